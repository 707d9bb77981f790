#include "symbols/go/pclntab.h"

#include <algorithm>
#include <array>

#include "symbols/go/bytes.h"

namespace vesta {
namespace {

using go::read;

constexpr size_t kPointerBytes = 8;
constexpr size_t kMaxNameBytes = 64 * 1024;
// Indices into a function's pcdata and funcdata, internal/abi/symtab.go.
constexpr uint32_t kPcdataInlineIndex = 2;
constexpr uint32_t kFuncdataInlineTree = 3;

std::optional<PclntabVersion> version_of(uint32_t magic) {
  switch (magic) {
    case 0xfffffffb:
      return PclntabVersion::kGo2;
    case 0xfffffffa:
      return PclntabVersion::kGo16;
    case 0xfffffff0:
      return PclntabVersion::kGo18;
    case 0xfffffff1:
      return PclntabVersion::kGo20;
    default:
      return std::nullopt;
  }
}

Error broken(std::string_view what) {
  return {ErrorCode::kInvalidInput, "Go's function table is broken: " + std::string(what), {}};
}

std::string_view text_at(std::string_view bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset, kMaxNameBytes);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

// Bytes of one entry of the function table: two words, which are 32 bits wide since 1.18.
size_t field_bytes(PclntabVersion version) {
  return version >= PclntabVersion::kGo18 ? 4 : kPointerBytes;
}

}  // namespace

std::optional<uint32_t> PcValues::varint() {
  uint32_t value = 0;
  for (uint32_t shift = 0; shift < 35; shift += 7) {
    if (bytes_.empty()) return std::nullopt;
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    value |= static_cast<uint32_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

bool PcValues::next(PclntabBudget& budget) {
  if (budget.steps == 0) return false;
  --budget.steps;
  const auto delta = varint();
  if (!delta) return false;
  if (*delta == 0 && !first_) {
    finished_ = true;
    return false;
  }
  const auto advance = varint();
  if (!advance || *advance == 0) return false;
  first_ = false;
  const uint32_t change = (*delta >> 1) ^ (0 - (*delta & 1));
  value_ = static_cast<int32_t>(static_cast<uint32_t>(value_) + change);
  start_ = pc_;
  pc_ += uint64_t{*advance} * quantum_;
  return true;
}

bool Pclntab::looks_like(std::string_view bytes) {
  const auto magic = read<uint32_t>(bytes, 0);
  if (!magic || !version_of(*magic) || bytes.size() < 16) return false;
  const char quantum = bytes[6];
  return bytes[4] == 0 && bytes[5] == 0 && (quantum == 1 || quantum == 2 || quantum == 4) &&
         bytes[7] == kPointerBytes;
}

Result<Pclntab> Pclntab::parse(std::string_view bytes) {
  if (!looks_like(bytes)) return broken("it does not start like that of a 64-bit program");
  Pclntab table;
  table.bytes_ = bytes;
  table.version_ = *version_of(*read<uint32_t>(bytes, 0));
  table.quantum_ = static_cast<uint8_t>(bytes[6]);
  VESTA_TRY(table.version_ == PclntabVersion::kGo2 ? table.parse_1_2() : table.parse_1_16());
  // The table ends with one address more: where the last function ends.
  const size_t field = field_bytes(table.version_);
  const size_t room = table.functions_.size() - table.table_;
  if (table.function_count_ == 0 || table.function_count_ > (room - field) / (2 * field)) {
    return broken("it claims " + std::to_string(table.function_count_) + " functions");
  }
  return table;
}

Status Pclntab::parse_1_2() {
  names_ = files_ = pc_values_ = functions_ = bytes_;
  table_ = 16;
  function_count_ = *read<uint64_t>(bytes_, 8);
  if (bytes_.size() < table_ + kPointerBytes || function_count_ > bytes_.size() / 16) {
    return broken("it claims " + std::to_string(function_count_) + " functions");
  }
  const auto files = read<uint32_t>(bytes_, table_ + function_count_ * 16 + kPointerBytes);
  if (!files || *files >= bytes_.size()) return broken("the file table is out of bounds");
  units_ = bytes_.substr(*files);
  return {};
}

Result<std::string_view> Pclntab::part(uint64_t offset) const {
  if (offset >= bytes_.size()) return broken("a part is out of bounds");
  return bytes_.substr(offset);
}

Status Pclntab::parse_1_16() {
  const bool has_text = version_ >= PclntabVersion::kGo18;
  std::array<uint64_t, 8> words{};
  const size_t count = has_text ? 8 : 7;
  for (size_t i = 0; i < count; ++i) {
    const auto word = read<uint64_t>(bytes_, 8 + i * 8);
    if (!word) return broken("the header is cut off");
    words[i] = *word;
  }
  function_count_ = words[0];
  header_text_start_ = has_text ? words[2] : 0;
  const size_t first = has_text ? 3 : 2;
  names_offset_ = words[first];
  VESTA_ASSIGN(names_, part(words[first]));
  VESTA_ASSIGN(units_, part(words[first + 1]));
  VESTA_ASSIGN(files_, part(words[first + 2]));
  VESTA_ASSIGN(pc_values_, part(words[first + 3]));
  VESTA_ASSIGN(functions_, part(words[first + 4]));
  if (functions_.size() < 2 * kPointerBytes) return broken("the function table is cut off");
  text_start_ = header_text_start_;
  return {};
}

uint64_t Pclntab::entry_of(size_t index) const {
  const size_t field = field_bytes(version_);
  const uint64_t at = table_ + index * 2 * field;
  if (field == 4) return text_start_ + read<uint32_t>(functions_, at).value_or(0);
  return read<uint64_t>(functions_, at).value_or(0);
}

uint64_t Pclntab::offset_of(size_t index) const {
  const size_t field = field_bytes(version_);
  const uint64_t at = table_ + index * 2 * field + field;
  if (field == 4) return read<uint32_t>(functions_, at).value_or(UINT32_MAX);
  return read<uint64_t>(functions_, at).value_or(UINT64_MAX);
}

std::optional<PclntabFunction> Pclntab::function(size_t index) const {
  if (index >= function_count_) return std::nullopt;
  PclntabFunction f;
  f.entry = entry_of(index);
  f.end = entry_of(index + 1);
  const uint64_t offset = offset_of(index);
  if (f.end <= f.entry || offset >= functions_.size()) return std::nullopt;

  // entry, name, args, deferreturn, pcsp, pcfile, pcln, npcdata, [unit, [start line]], id, flag, …
  const std::string_view bytes = functions_.substr(offset);
  const bool has_unit = version_ >= PclntabVersion::kGo16;
  const bool has_line = version_ >= PclntabVersion::kGo20;
  const size_t name = field_bytes(version_);
  const size_t ids = name + 28 + (has_unit ? 4 : 0) + (has_line ? 4 : 0);
  if (bytes.size() < ids + 4) return std::nullopt;
  f.name_offset = *read<int32_t>(bytes, name);
  f.pcsp = *read<uint32_t>(bytes, name + 12);
  f.pcfile = *read<uint32_t>(bytes, name + 16);
  f.pcln = *read<uint32_t>(bytes, name + 20);
  const uint32_t pcdata_count = *read<uint32_t>(bytes, name + 24);
  if (has_unit) f.unit_offset = *read<uint32_t>(bytes, name + 28);
  if (has_line) f.start_line = *read<uint32_t>(bytes, name + 32);
  if (has_unit) f.flags = static_cast<uint8_t>(bytes[ids + 1]);

  // Before 1.18 the inline tree is an absolute pointer, which these programs rarely still carry.
  const auto funcdata_count = static_cast<uint8_t>(bytes[ids + 3]);
  if (version_ >= PclntabVersion::kGo18 && pcdata_count > kPcdataInlineIndex &&
      funcdata_count > kFuncdataInlineTree) {
    const uint64_t pcdata = ids + 4;
    f.inline_index = read<uint32_t>(bytes, pcdata + kPcdataInlineIndex * 4).value_or(0);
    f.inline_tree =
        read<uint32_t>(bytes, pcdata + uint64_t{pcdata_count} * 4 + kFuncdataInlineTree * 4)
            .value_or(UINT32_MAX);
  }
  return f;
}

std::optional<PclntabFunction> Pclntab::find(uint64_t address) const {
  size_t low = 0;
  size_t high = function_count_;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (entry_of(middle) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  auto found = function(low - 1);
  if (!found || address < found->entry || address >= found->end) return std::nullopt;
  return found;
}

std::string_view Pclntab::name(int32_t offset) const {
  return offset < 0 ? std::string_view{} : text_at(names_, static_cast<uint32_t>(offset));
}

std::string_view Pclntab::file(const PclntabFunction& function, int32_t index) const {
  if (index < 0) return {};
  const uint64_t entry = uint64_t{function.unit_offset} + static_cast<uint32_t>(index);
  const auto offset = read<uint32_t>(units_, entry * 4);
  if (!offset || *offset == UINT32_MAX) return {};
  return text_at(files_, *offset);
}

PcValues Pclntab::values(const PclntabFunction& function, uint32_t table) const {
  // Offset 0 is an empty table by convention.
  const bool present = table != 0 && table < pc_values_.size();
  return {present ? pc_values_.substr(table) : std::string_view{}, function.entry, quantum_};
}

std::optional<int32_t> Pclntab::value_at(const PclntabFunction& function, uint32_t table,
                                         uint64_t address, PclntabBudget& budget) const {
  PcValues walk = values(function, table);
  while (walk.next(budget)) {
    if (address < walk.end()) return walk.value();
  }
  return std::nullopt;
}

}  // namespace vesta
