// The executable mappings of one address space, with the time that each was there, so that a sample
// is looked up among those of its own time, whichever of sample and event arrives first. Holds
// references to modules. Copied when a process forks and either side changes. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "agent/process/module_registry.h"

namespace vesta::agent {

inline constexpr uint64_t kStillAlive = UINT64_MAX;

struct CodeMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t bias = 0;  // address in the process - bias = address in the ELF file
  uint64_t file_offset = 0;
  uint64_t born_ns = 0;
  uint64_t died_ns = kStillAlive;
  // Path of the file, or what the kernel calls memory without one. Valid as long as the mapping.
  std::string_view name;
  ModuleId module;  // 0: anonymous, JIT code

  bool contains(uint64_t address) const { return address >= start && address < end; }
  bool is_valid_at(uint64_t time_ns) const { return time_ns >= born_ns && time_ns < died_ns; }
  // Same place and same contents, whenever.
  bool is_same_code(const CodeMapping& other) const {
    return start == other.start && end == other.end && module == other.module &&
           (module ? bias == other.bias : name == other.name);
  }
};

class MappingHistory {
 public:
  struct Limits {
    size_t max_alive = 65536;
    size_t max_dead = 1024;
  };

  MappingHistory(ModuleRegistry& registry, const Limits& limits)
      : registry_(&registry), limits_(limits) {}
  MappingHistory(const MappingHistory& other);
  MappingHistory& operator=(const MappingHistory&) = delete;
  ~MappingHistory();

  // What covered the address at that time; null when nothing did.
  const CodeMapping* find(uint64_t address, uint64_t time_ns) const;

  // Those that are there now, by address, without overlaps.
  std::span<const CodeMapping> alive() const { return alive_; }
  size_t dead_count() const { return dead_.size(); }
  // No mapping was born or died after this.
  uint64_t last_change_ns() const { return last_change_ns_; }

  enum class Change { kNone, kChanged, kRefused };
  // A mapping appeared at mapping.born_ns, over whatever was there. Older news than what is known
  // about the same place goes to the past. kRefused: there are too many.
  Change insert(CodeMapping mapping);
  // All mappings as they were at a time, by address. Those not known before are taken to have been
  // there since `since_ns`, unless something else was.
  void replace(std::vector<CodeMapping> now, uint64_t time_ns, uint64_t since_ns);
  // Would insert() of this leave everything as it is?
  bool is_known(const CodeMapping& mapping) const;

  // Forgets what is after a time: how it was then. For children that were forked at that time.
  void rewind(uint64_t time_ns);
  // Takes those born after a time out of `other`: they belong to a program started since.
  void take_younger(MappingHistory& other, uint64_t time_ns);
  // Forgets mappings that died before a time.
  void expire(uint64_t before_ns);

  size_t memory_bytes() const;

 private:
  void bury(CodeMapping mapping, uint64_t died_ns);
  void retain(const CodeMapping& mapping);
  void release(const CodeMapping& mapping);

  ModuleRegistry* registry_;
  Limits limits_;
  std::vector<CodeMapping> alive_;
  std::vector<CodeMapping> dead_;  // in the order of their burial
  uint64_t last_change_ns_ = 0;
};

}  // namespace vesta::agent
