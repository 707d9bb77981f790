#include "symbols/kernel/kernel_symbols.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

namespace vesta {
namespace {

constexpr size_t kPieceBytes = 256 * 1024;
constexpr uint64_t kMaxFileBytes = 1ULL << 30;
constexpr size_t kMaxAdded = 65536;
constexpr size_t kMaxAddedNameBytes = 512;

// Hands a file's text over in pieces; /proc files say nothing about their size.
Status read_pieces(const std::string& path, const std::function<void(std::string_view)>& take) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
    return Error{code, "cannot open " + path + ": " + std::strerror(errno),
                 "kernel functions have no names; check that /proc is mounted and the kernel has "
                 "CONFIG_KALLSYMS"};
  }
  const auto piece = std::make_unique<char[]>(kPieceBytes);
  for (uint64_t total = 0; total < kMaxFileBytes;) {
    const ssize_t got = read(fd.get(), piece.get(), kPieceBytes);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error{ErrorCode::kIo, "cannot read " + path + ": " + std::strerror(errno), {}};
    }
    take({piece.get(), static_cast<size_t>(got)});
    total += static_cast<uint64_t>(got);
  }
  return {};
}

uint64_t hash_of_file(const std::string& path) {
  std::string text;
  if (!read_pieces(path, [&](std::string_view piece) { text.append(piece); })) return 0;
  // The third column counts users of a module and changes all the time: names and addresses do.
  std::string stable;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    stable.append(line.substr(0, line.find(' ')));
    stable.append(line.substr(std::min(line.rfind("0x"), line.size())));
    stable.push_back('\n');
    at = end + 1;
  }
  return hash64(stable);
}

}  // namespace

Result<KernelSymbols> KernelSymbols::open(Options options) {
  KernelSymbols symbols(std::move(options));
  VESTA_TRY(symbols.refresh());
  return symbols;
}

Status KernelSymbols::refresh() {
  KernelSymbolTable table;
  VESTA_TRY(read_pieces(options_.kallsyms, [&](std::string_view piece) { table.feed(piece); }));
  table.finish();
  if (table.lines() == 0) {
    return Error{ErrorCode::kNotFound, options_.kallsyms + " is empty",
                 "the kernel was built without CONFIG_KALLSYMS; its functions have no names"};
  }
  if (table.lines_with_address() == 0) {
    return Error{ErrorCode::kPermission,
                 options_.kallsyms + " shows no addresses: the kernel hides them from this process",
                 "run as root or grant CAP_SYSLOG, and check that kernel.kptr_restrict is not 2; "
                 "see vesta doctor"};
  }
  if (table.size() == 0) {
    return Error{ErrorCode::kInvalidInput, options_.kallsyms + " contains no functions", {}};
  }
  table_ = std::move(table);
  added_.clear();
  removed_.clear();
  modules_hash_ = hash_of_file(options_.modules);
  checked_ = options_.clock();
  return {};
}

std::optional<KernelSymbol> KernelSymbols::lookup_loaded(uint64_t address) const {
  if (auto after = added_.upper_bound(address); after != added_.begin()) {
    const auto& [start, symbol] = *--after;
    if (address - start < symbol.size) {
      const bool is_bpf = symbol.name.starts_with("bpf_");
      return KernelSymbol{symbol.name, is_bpf ? std::string_view("bpf") : std::string_view{},
                          start};
    }
  }
  auto found = table_.lookup(address);
  if (found && removed_.contains(found->start)) return std::nullopt;
  return found;
}

std::optional<KernelSymbol> KernelSymbols::lookup(uint64_t address) {
  if (auto found = lookup_loaded(address)) return found;
  if (!modules_changed() || !refresh()) return std::nullopt;
  return lookup_loaded(address);
}

bool KernelSymbols::modules_changed() {
  const MonotonicNs now = options_.clock();
  if (now - checked_ < options_.recheck_interval_ns) return false;
  checked_ = now;
  return hash_of_file(options_.modules) != modules_hash_;
}

void KernelSymbols::add(uint64_t address, uint64_t size, std::string_view name) {
  if (name.empty() || size == 0 || added_.size() >= kMaxAdded) return;
  removed_.erase(address);
  // A new symbol lies where others have been: those are gone, even if their events got lost.
  auto next = added_.lower_bound(address);
  if (next != added_.begin()) {
    auto before = std::prev(next);
    if (address - before->first < before->second.size) added_.erase(before);
  }
  while (next != added_.end() && next->first - address < size) next = added_.erase(next);
  added_[address] = {size, std::string(name.substr(0, kMaxAddedNameBytes))};
}

void KernelSymbols::remove(uint64_t address) {
  if (added_.erase(address) > 0) return;
  const auto found = table_.lookup(address);
  if (found && found->start == address && removed_.size() < kMaxAdded) removed_.insert(address);
}

}  // namespace vesta
