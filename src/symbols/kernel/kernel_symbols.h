// Names of kernel addresses: the kernel itself, its modules and BPF programs, from /proc/kallsyms
// and from the add and remove events of the perf side-band. Owns its table. Not thread-safe: one
// thread looks up and updates; what lookup() returns is valid until the next call that is not
// const.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "symbols/kernel/symbol_table.h"

namespace vesta {

class KernelSymbols {
 public:
  struct Options {
    std::string kallsyms = "/proc/kallsyms";
    std::string modules = "/proc/modules";
    int64_t recheck_interval_ns = kSecond;  // of the list of modules, after a failed lookup
    MonotonicClock clock = monotonic_now;
  };

  // kPermission when the kernel shows no addresses (kernel.kptr_restrict), kNotFound when it was
  // built without symbols.
  static Result<KernelSymbols> open(Options options = default_options());
  static Options default_options() { return {}; }

  // Nothing for an address that no function covers. Rereads the file when that happens and modules
  // came or went since, at most once per interval.
  std::optional<KernelSymbol> lookup(uint64_t address);
  std::optional<KernelSymbol> lookup_loaded(uint64_t address) const;

  // A KSYMBOL event: a BPF program, a trampoline, a kprobe or ftrace stub that came or went.
  // Symbols past a limit are dropped; refresh() finds them again.
  void add(uint64_t address, uint64_t size, std::string_view name);
  void remove(uint64_t address);

  // Reads the file again. Keeps what it has when that fails.
  Status refresh();

  size_t size() const { return table_.size() + added_.size(); }
  size_t memory_bytes() const { return table_.memory_bytes(); }

 private:
  explicit KernelSymbols(Options options) : options_(std::move(options)) {}
  bool modules_changed();

  struct Added {
    uint64_t size = 0;
    std::string name;
  };

  Options options_;
  KernelSymbolTable table_;
  std::map<uint64_t, Added> added_;
  std::set<uint64_t> removed_;  // starts of symbols in the table that are gone
  uint64_t modules_hash_ = 0;
  MonotonicNs checked_;
};

}  // namespace vesta
