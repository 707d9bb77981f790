// Whether a program that was just started has its parent's cgroup, user and root, or must be looked
// at: learnt from the programs that the same parent started before. A shell's commands have, what a
// container runtime or a service manager starts has not. Looking costs some 50 us, and the next
// thing that happens to most processes is their end. Bounded. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/table_hash.h"

namespace vesta::agent {

class DetailTrust {
 public:
  // `parent` is the program that was running before, with its cgroup.
  bool should_look(std::string_view parent, std::string_view cgroup);
  // What a look has shown.
  void note(std::string_view parent, std::string_view cgroup, bool is_inherited);

 private:
  struct Record {
    uint32_t inherited = 0;  // in a row
    uint32_t taken_for_granted = 0;
  };
  Record& record(std::string_view parent, std::string_view cgroup);

  std::unordered_map<std::string, Record, TableKeyHash> records_;
  std::string key_;  // scratch
};

}  // namespace vesta::agent
