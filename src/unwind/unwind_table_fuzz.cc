#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "unwind/stack_unwinder.h"
#include "unwind/table_cache.h"

namespace {

using vesta::UnwindTable;
using vesta::UnwindTarget;

// Memory and registers out of the input too: a stack that fits no table.
class RandomProcess final : public UnwindTarget {
 public:
  RandomProcess(const UnwindTable& table, std::string_view memory)
      : table_(table), memory_(memory) {}

  bool find_mapping(uint64_t pc, Mapping& mapping) override {
    if (pc >= 1 << 24) return false;
    mapping = {0, 1 << 20, 0, false, &table_};
    if (pc >= 1 << 20) mapping = {1 << 20, 1 << 24, 0, true, nullptr};
    return true;
  }
  Read read_word(uint64_t address, uint64_t& value) override {
    if (address >= 1 << 20 || memory_.size() < sizeof(value)) return Read::kFailed;
    std::memcpy(&value, memory_.data() + address % (memory_.size() - sizeof(value) + 1),
                sizeof(value));
    value &= (1 << 24) - 1;
    return Read::kDone;
  }

 private:
  const UnwindTable& table_;
  std::string_view memory_;
};

uint64_t word_at(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  if (at + sizeof(value) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

}  // namespace

// A cache file, or a table without the checksum that no fuzzer guesses: nothing that reads it may
// leave it. Valid tables survive the way to disk and back.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const vesta::Hash128 fingerprint{word_at(bytes, 16), word_at(bytes, 24)};
  if (const auto read = vesta::decode_table(bytes, fingerprint); read.ok()) {
    if (!vesta::validate(*read).ok()) std::abort();
  }

  UnwindTable table;
  if (size < sizeof(table.header)) return 0;
  std::memcpy(&table.header, data, sizeof(table.header));
  const std::string_view rest = bytes.substr(sizeof(table.header));
  // Headers that fit are too rare to wait for.
  if (rest.size() % 2 == 0) {
    table.header.state = VESTA_MODULE_LOADED;
    table.header.text_start = 0;
    table.header.page_count = table.header.page_count % 8 + 1;
    table.header.page_cells = (table.header.page_count + 2) / 2;
    table.header.row_count %= 64;
    table.header.rule_count = table.header.rule_count % 16 + 1;
    table.header.rule_cell = table.header.page_cells + (table.header.row_count + 1) / 2;
  }
  const size_t wanted =
      std::min<size_t>(size_t{table.header.rule_cell} + table.header.rule_count, 4096);
  table.cells.resize(wanted);
  if (wanted != 0) {
    std::memcpy(table.cells.data(), rest.data(), std::min(rest.size(), wanted * sizeof(uint64_t)));
  }
  const bool is_valid = vesta::validate(table).ok();
  if (is_valid) {
    for (uint64_t address = 0; address < 1 << 16; address += 61) vesta::rule_at(table, address);
    const auto again = vesta::decode_table(vesta::encode_table(table, fingerprint), fingerprint);
    if (!again || again->cells != table.cells) std::abort();
  }
  // The kernel side checks every index, so the unwinder may meet any table.
  RandomProcess process(table, rest);
  const vesta::StackUnwinder unwinder(process);
  for (uint64_t start = 0; start < 4; ++start) {
    vesta::Registers registers;
    registers.ip = word_at(rest, start * 8) & 0xffff;
    registers.sp = word_at(rest, start * 8 + 16) & 0xffff;
    registers.bp = word_at(rest, start * 8 + 32) & 0xffff;
    registers.leaf.fill(registers.sp + 64);
    const vesta::UnwoundStack stack = unwinder.unwind(registers, 128);
    if (stack.frames.empty() || stack.frames.size() > 128) std::abort();
  }
  return 0;
}
