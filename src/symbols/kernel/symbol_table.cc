#include "symbols/kernel/symbol_table.h"

#include <algorithm>

namespace vesta {
namespace {

// KSYM_NAME_LEN is 512 and module names are shorter than 64.
constexpr size_t kMaxLineBytes = 1024;
// The kernel is trusted, but a file given for it in a test or a container need not be.
constexpr size_t kMaxSymbols = 4'000'000;
constexpr size_t kMaxNameBytes = 256ULL << 20;
// No function is larger; keeps the last one from reaching to the end of the address space.
constexpr uint64_t kMaxFunctionBytes = 1 << 20;

constexpr uint8_t kBoundary = 255;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The linker script's own marks, which often share an address with a function.
bool is_mark(std::string_view name) {
  return name == "_stext" || name == "_text" || name == "_sinittext" ||
         name.ends_with("_text_start") || name.ends_with("_text_end");
}

// Global before local before weak before marks; anything that is no text only ends what comes
// before it.
uint8_t rank_of(char type, std::string_view name) {
  if (name == "_etext" || name == "_einittext") return kBoundary;
  switch (is_mark(name) ? 'm' : type) {
    case 'm':
      return 3;
    case 'T':
      return 0;
    case 't':
      return 1;
    case 'W':
    case 'w':
      return 2;
    default:
      return kBoundary;
  }
}

size_t leading_underscores(std::string_view name) {
  const size_t first = name.find_first_not_of('_');
  return first == std::string_view::npos ? name.size() : first;
}

}  // namespace

void KernelSymbolTable::feed(std::string_view piece) {
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (end != std::string_view::npos && partial_line_.empty() && !line_too_long_) {
      take_line(part);
    } else {
      if (partial_line_.size() + part.size() > kMaxLineBytes) line_too_long_ = true;
      if (!line_too_long_) partial_line_.append(part);
    }
    if (end == std::string_view::npos) return;
    if (line_too_long_) {
      ++bad_lines_;
    } else if (!partial_line_.empty()) {
      take_line(partial_line_);
    }
    partial_line_.clear();
    line_too_long_ = false;
    piece.remove_prefix(end + 1);
  }
}

// "ffffffffc0201000 t ftrace_trampoline\t[__builtin__ftrace]"
void KernelSymbolTable::take_line(std::string_view line) {
  if (line.empty()) return;
  ++lines_;
  uint64_t address = 0;
  size_t at = 0;
  for (; at < line.size() && at < 16 && hex_digit(line[at]) >= 0; ++at) {
    address = address << 4 | static_cast<uint64_t>(hex_digit(line[at]));
  }
  if (at == 0 || at + 3 >= line.size() || line[at] != ' ' || line[at + 2] != ' ' ||
      line.size() > kMaxLineBytes) {
    ++bad_lines_;
    return;
  }
  if (address == 0) return;  // hidden, or a per-CPU offset
  ++lines_with_address_;
  std::string_view name = line.substr(at + 3);
  std::string_view module;
  if (const size_t tab = name.find('\t'); tab != std::string_view::npos) {
    module = name.substr(tab + 1);
    name = name.substr(0, tab);
    if (module.starts_with('[')) module.remove_prefix(1);
    if (module.ends_with(']')) module.remove_suffix(1);
  }
  const uint8_t rank = rank_of(line[at + 1], name);
  if (rank == kBoundary) {
    // Of a run of data symbols the first is enough.
    if (!candidates_.empty() && candidates_.back().rank == kBoundary &&
        candidates_.back().entry.address <= address) {
      return;
    }
    name = module = {};
  } else if (name.empty()) {
    ++bad_lines_;
    return;
  }
  if (candidates_.size() >= kMaxSymbols || names_.size() + name.size() > kMaxNameBytes) {
    ++bad_lines_;
    return;
  }
  candidates_.push_back({{address, static_cast<uint32_t>(names_.size()),
                          static_cast<uint16_t>(name.size()), module_index(module)},
                         rank});
  names_.append(name);
}

uint16_t KernelSymbolTable::module_index(std::string_view name) {
  // Lines of a module follow each other, so the last one nearly always fits.
  if (name.empty()) return 0;
  for (size_t i = modules_.size(); i-- > 1;) {
    if (modules_[i] == name) return static_cast<uint16_t>(i);
  }
  if (modules_.size() > 4096) return 0;
  modules_.emplace_back(name);
  return static_cast<uint16_t>(modules_.size() - 1);
}

// Aliases: the same one is chosen whatever the order of lines, and the one that people write:
// global, without leading underscores, the more telling one.
bool KernelSymbolTable::better(const Candidate& a, const Candidate& b) const {
  if (a.rank != b.rank) return a.rank < b.rank;
  const std::string_view x = name_of(a.entry);
  const std::string_view y = name_of(b.entry);
  const size_t x_underscores = leading_underscores(x);
  const size_t y_underscores = leading_underscores(y);
  if (x_underscores != y_underscores) return x_underscores < y_underscores;
  if (x.size() != y.size()) return x.size() > y.size();
  if (x != y) return x < y;
  return modules_[a.entry.module] < modules_[b.entry.module];
}

void KernelSymbolTable::finish() {
  if (!partial_line_.empty() && !line_too_long_) take_line(partial_line_);
  partial_line_ = {};
  const auto by_address = [](const Candidate& a, const Candidate& b) {
    return a.entry.address < b.entry.address;
  };
  // The kernel's own symbols come sorted, modules do not.
  if (!std::is_sorted(candidates_.begin(), candidates_.end(), by_address)) {
    std::sort(candidates_.begin(), candidates_.end(), by_address);
  }
  size_t kept = 0;
  size_t name_bytes = 0;
  for (size_t i = 0; i < candidates_.size();) {
    size_t best = i;
    size_t next = i + 1;
    for (; next < candidates_.size() &&
           candidates_[next].entry.address == candidates_[i].entry.address;
         ++next) {
      if (better(candidates_[next], candidates_[best])) best = next;
    }
    name_bytes += candidates_[best].entry.name_bytes;
    candidates_[kept++] = candidates_[best];
    i = next;
  }
  candidates_.resize(kept);

  std::string names;
  names.reserve(name_bytes);
  entries_.reserve(kept);
  for (const Candidate& candidate : candidates_) {
    // Two boundaries in a row say no more than one.
    if (candidate.entry.name_bytes == 0 && !entries_.empty() && entries_.back().name_bytes == 0) {
      continue;
    }
    Entry entry = candidate.entry;
    entry.name_offset = static_cast<uint32_t>(names.size());
    names.append(name_of(candidate.entry));
    entries_.push_back(entry);
  }
  entries_.shrink_to_fit();
  names_ = std::move(names);
  // Assigning {} would keep the memory.
  std::vector<Candidate>().swap(candidates_);
}

std::optional<KernelSymbol> KernelSymbolTable::lookup(uint64_t address) const {
  auto after = std::upper_bound(entries_.begin(), entries_.end(), address,
                                [](uint64_t a, const Entry& entry) { return a < entry.address; });
  if (after == entries_.begin()) return std::nullopt;
  const Entry& entry = *--after;
  if (entry.name_bytes == 0 || address - entry.address >= kMaxFunctionBytes) return std::nullopt;
  return KernelSymbol{name_of(entry), modules_[entry.module], entry.address};
}

size_t KernelSymbolTable::memory_bytes() const {
  return entries_.capacity() * sizeof(Entry) + candidates_.capacity() * sizeof(Candidate) +
         names_.capacity();
}

}  // namespace vesta
