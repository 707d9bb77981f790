#include "symbols/elf/symbol_table.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "symbols/elf/plt_names.h"

namespace vesta {
namespace {

// Longer names are cut off: no tool shows them, and a string table without an end must not make
// each look-up scan it all.
constexpr size_t kMaxName = 64 * 1024;
// How much of a name decides between several of one address.
constexpr size_t kComparedName = 256;

enum StringTable : uint32_t { kSymtabStrings, kDynsymStrings, kMiniStrings, kPltStrings };

std::string_view string_at(std::string_view table, uint64_t offset, size_t max_bytes) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset, max_bytes);
  return rest.substr(0, rest.find('\0'));
}

std::string_view without_version(std::string_view name) {
  const size_t at = name.find('@');
  return at == std::string_view::npos || at == 0 ? name : name.substr(0, at);
}

// Which of several names at one address a person would rather see; lower is better.
auto name_noise(std::string_view name) {
  const size_t underscores = std::min(name.find_first_not_of('_'), name.size());
  // C++ and Rust names start with one underscore that is part of the mangling.
  const bool mangled = name.starts_with("_Z") || name.starts_with("_R");
  const bool versioned = name.find('@') != std::string_view::npos;
  const bool clone = name.find('.') != std::string_view::npos;
  return std::tuple(mangled ? 0 : underscores, versioned, clone, name.size());
}

}  // namespace

class SymbolTableBuilder {
 public:
  explicit SymbolTableBuilder(const SymbolTable::Limits& limits) : limits_(limits) {}

  bool add(const std::shared_ptr<const ElfFile>& file, std::string_view section_name,
           StringTable strings) {
    const ElfSection* section = file->section(section_name);
    if (section == nullptr || (section->flags & SHF_COMPRESSED) != 0) return false;
    const ElfSection* names = file->section(size_t{section->link});
    if (names == nullptr || names->bytes.empty()) return false;
    table_.strings_[strings] = names->bytes;
    const size_t count =
        std::min<size_t>(section->bytes.size() / sizeof(Elf64_Sym), limits_.max_symbols);
    const size_t before = found_.size();
    found_.reserve(before + count / 2);
    for (size_t i = 0; i < count; ++i) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, section->bytes.data() + i * sizeof(symbol), sizeof(symbol));
      add_symbol(*file, symbol, strings);
    }
    if (found_.size() == before) return false;
    if (std::ranges::find(table_.files_, file) == table_.files_.end()) {
      table_.files_.push_back(file);
    }
    return true;
  }

  SymbolTable finish(const std::shared_ptr<const ElfFile>& file) {
    flatten();
    found_.clear();
    found_.shrink_to_fit();
    add_plt(*file);
    table_.entries_.shrink_to_fit();
    if (std::ranges::find(table_.files_, file) == table_.files_.end()) {
      table_.files_.push_back(file);
    }
    return std::move(table_);
  }

  SymbolTable& table() { return table_; }

 private:
  using Entry = SymbolTable::Entry;
  struct Found {
    uint64_t address;
    uint32_t size;
    uint32_t name;
    // Sized ones, ends of sections and zero-sized ones are handled differently; see flatten().
    uint32_t section_end_low;  // distance from the address, saturated
    uint8_t strings;
    uint8_t kind;     // 0 function, 1 no type
    uint8_t binding;  // 0 global, 1 weak, 2 local
  };

  void add_symbol(const ElfFile& file, const Elf64_Sym& symbol, StringTable strings) {
    const uint8_t type = ELF64_ST_TYPE(symbol.st_info);
    const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!function && type != STT_NOTYPE) || symbol.st_name == 0) return;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) return;
    const ElfSection* section = file.section(size_t{symbol.st_shndx});
    if (section != nullptr && (symbol.st_value < section->address ||
                               symbol.st_value - section->address >= section->size)) {
      section = nullptr;
      if (!function) return;
    }
    if (!function && (section == nullptr || (section->flags & SHF_EXECINSTR) == 0)) return;
    if (file.machine() == EM_AARCH64 && !function &&
        string_at(table_.strings_[strings], symbol.st_name, 2).starts_with('$')) {
      return;  // marks where code and data begin
    }
    const uint8_t bind = ELF64_ST_BIND(symbol.st_info);
    Found found{};
    found.address = symbol.st_value;
    found.size = static_cast<uint32_t>(
        std::min<uint64_t>(symbol.st_size, (1ULL << SymbolTable::kSizeBits) - 1));
    // An end past the top of the address space is a lie.
    if (found.address + found.size < found.address) return;
    found.name = symbol.st_name;
    if (section != nullptr) {
      found.section_end_low = static_cast<uint32_t>(
          std::min<uint64_t>(section->address + section->size - symbol.st_value,
                             (1ULL << SymbolTable::kSizeBits) - 1));
    }
    found.strings = static_cast<uint8_t>(strings);
    found.kind = function ? 0 : 1;
    found.binding = bind == STB_WEAK ? 1 : bind == STB_LOCAL ? 2 : 0;
    found_.push_back(found);
  }

  // Sized functions first: where one lies inside another, the inner one wins and the outer one goes
  // on behind it. What has no size then fills the gaps, up to what comes next.
  void flatten() {
    std::ranges::sort(found_, [](const Found& a, const Found& b) {
      return std::tuple(a.address, a.strings, a.name) < std::tuple(b.address, b.strings, b.name);
    });
    keep_best_names();
    table_.entries_.reserve(found_.size());
    std::vector<const Found*> open;
    std::vector<const Found*> unsized;
    uint64_t position = 0;
    const auto emit = [this](const Found& from, uint64_t start, uint64_t end) {
      if (start < end) table_.entries_.push_back(entry(from, start, end));
    };
    const auto close_until = [&](uint64_t address) {
      while (!open.empty()) {
        const Found& top = *open.back();
        const uint64_t end = top.address + top.size;
        const uint64_t stop = std::min(end, address);
        if (position < stop) {
          emit(top, position, stop);
          position = stop;
        }
        if (end > address) return;
        open.pop_back();
      }
    };
    for (const Found& found : found_) {
      if (found.size == 0) {
        unsized.push_back(&found);
        continue;
      }
      close_until(found.address);
      position = std::max(position, found.address);
      open.push_back(&found);
    }
    close_until(~0ULL);
    fill_gaps(unsized);
  }

  static Entry entry(const Found& from, uint64_t start, uint64_t end) {
    return {start, from.name,
            static_cast<uint32_t>(end - start) | static_cast<uint32_t>(from.strings)
                                                     << SymbolTable::kSizeBits};
  }

  // One symbol for each address: functions before others, sized before unsized, then binding, then
  // the name with the least noise, then the alphabet.
  void keep_best_names() {
    const auto rank = [](const Found& found) {
      return std::tuple(found.kind, found.size == 0, found.binding);
    };
    const auto name = [this](const Found& found) {
      return string_at(table_.strings_[found.strings], found.name, kComparedName);
    };
    const auto better = [&](const Found& a, const Found& b) {
      if (const auto ra = rank(a), rb = rank(b); ra != rb) return ra < rb;
      const std::string_view na = name(a), nb = name(b);
      if (const auto ra = name_noise(na), rb = name_noise(nb); ra != rb) return ra < rb;
      return na < nb;
    };
    size_t kept = 0;
    for (size_t i = 0; i < found_.size();) {
      size_t best = i, next = i + 1;
      for (; next < found_.size() && found_[next].address == found_[i].address; ++next) {
        const bool same =
            found_[next].strings == found_[best].strings && found_[next].name == found_[best].name;
        if (!same && better(found_[next], found_[best])) best = next;
      }
      const Found chosen = found_[best];
      i = next;
      if (name(chosen).empty()) continue;
      found_[kept++] = chosen;
    }
    found_.resize(kept);
  }

  void fill_gaps(const std::vector<const Found*>& unsized) {
    const std::vector<Entry>& sized = table_.entries_;
    std::vector<Entry> fillers;
    for (size_t i = 0; i < unsized.size(); ++i) {
      const Found& found = *unsized[i];
      const auto next = std::ranges::upper_bound(sized, found.address, {}, &Entry::address);
      if (next != sized.begin() && std::prev(next)->end() > found.address) continue;  // covered
      uint64_t end = found.address + found.section_end_low;
      if (next != sized.end()) end = std::min(end, next->address);
      if (i + 1 < unsized.size()) end = std::min(end, unsized[i + 1]->address);
      if (end > found.address) fillers.push_back(entry(found, found.address, end));
    }
    merge(fillers);
  }

  // REQUIRES: `more` sorted
  void merge(const std::vector<Entry>& more) {
    if (more.empty()) return;
    std::vector<Entry>& all = table_.entries_;
    const auto middle = static_cast<ptrdiff_t>(all.size());
    all.insert(all.end(), more.begin(), more.end());
    std::inplace_merge(all.begin(), all.begin() + middle, all.end(),
                       [](const Entry& a, const Entry& b) { return a.address < b.address; });
  }

  void add_plt(const ElfFile& file) {
    constexpr uint32_t kMaxPlt = 1'000'000;
    constexpr size_t kMaxPltNames = 64UL << 20;
    std::vector<PltEntry> stubs = find_plt_entries(file, kMaxPlt);
    std::ranges::stable_sort(stubs, {}, &PltEntry::address);
    auto names = std::make_unique<std::string>();
    std::vector<Entry> entries;
    uint64_t end = 0;
    for (const PltEntry& stub : stubs) {
      ElfSymbol known;
      if (stub.address < end || table_.lookup(stub.address, known)) continue;
      std::string_view name = stub.name;
      if (name.empty() && table_.lookup(stub.resolver, known)) name = known.name;
      if (name.empty() || names->size() + name.size() > kMaxPltNames) continue;
      end = stub.address + stub.size;
      entries.push_back({stub.address, static_cast<uint32_t>(names->size()),
                         stub.size | uint32_t{kPltStrings} << SymbolTable::kSizeBits});
      names->append(without_version(name)).append("@plt").push_back('\0');
    }
    table_.plt_names_ = std::move(names);
    table_.strings_[kPltStrings] = *table_.plt_names_;
    merge(entries);
  }

  const SymbolTable::Limits limits_;
  SymbolTable table_;
  std::vector<Found> found_;
};

SymbolTable SymbolTable::build(const std::shared_ptr<const ElfFile>& file,
                               const std::shared_ptr<const ElfFile>& debug, const Limits& limits) {
  SymbolTableBuilder builder(limits);
  SymbolTable& table = builder.table();
  // The debug file's .symtab is the whole one; a stripped file may have kept a part.
  if (debug != nullptr) table.has_symtab_ = builder.add(debug, ".symtab", kSymtabStrings);
  if (!table.has_symtab_) table.has_symtab_ = builder.add(file, ".symtab", kSymtabStrings);
  table.has_dynsym_ = builder.add(file, ".dynsym", kDynsymStrings);
  if (!table.has_symtab_) {
    const auto mini = open_mini_debug_info(*file, limits.max_mini_debug_bytes);
    if (mini) table.has_mini_debug_ = builder.add(*mini, ".symtab", kMiniStrings);
  }
  return builder.finish(file);
}

std::string_view SymbolTable::name_of(const Entry& entry) const {
  const uint32_t table = entry.size_and_table >> kSizeBits;
  const std::string_view name = string_at(strings_[table], entry.name, kMaxName);
  return table == kPltStrings ? name : without_version(name);
}

bool SymbolTable::lookup(uint64_t address, ElfSymbol& symbol) const {
  const auto next = std::ranges::upper_bound(entries_, address, {}, &Entry::address);
  if (next == entries_.begin()) return false;
  const Entry& entry = *std::prev(next);
  if (address >= entry.end()) return false;
  symbol.name = name_of(entry);
  symbol.address = entry.address;
  symbol.size = entry.end() - entry.address;
  return !symbol.name.empty();
}

size_t SymbolTable::memory_bytes() const {
  size_t bytes = entries_.capacity() * sizeof(Entry);
  if (plt_names_ != nullptr) bytes += plt_names_->capacity();
  // Mini debug info is unpacked in memory; other files are mapped.
  if (has_mini_debug_) {
    for (const auto& file : files_) {
      if (file->section(".gnu_debugdata") == nullptr) bytes += file->bytes().size();
    }
  }
  return bytes;
}

}  // namespace vesta
