// The unwind victim as a child process, and the records it writes: what libgcc says of its stacks.
// The format: tests/programs/unwind/README.md. Killed on destruction. One owner thread. Test code
// only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"

namespace vesta::agent {

struct VictimRecord {
  uint64_t sequence = 0;
  uint64_t stack_pointer = 0;
  std::vector<uint64_t> frames;  // as in a vesta_sample: the leaf, its caller, …
  // Of the stack in use, to the end of its memory; with --memory only.
  std::vector<uint64_t> region_bytes;
};

class VictimProcess {
 public:
  // Null when it does not start. It waits for go().
  static std::unique_ptr<VictimProcess> start(std::vector<std::string> arguments);
  ~VictimProcess();
  VictimProcess(const VictimProcess&) = delete;
  VictimProcess& operator=(const VictimProcess&) = delete;

  uint32_t pid() const { return static_cast<uint32_t>(pid_); }
  void go();
  // False at the end of its output.
  bool next(VictimRecord& record);

 private:
  VictimProcess() = default;
  uint64_t word();
  void skip(uint64_t bytes);

  pid_t pid_ = -1;
  UniqueFd input_;
  UniqueFd output_;
  std::vector<char> buffer_;
  size_t at_ = 0;
  bool is_good_ = true;
};

}  // namespace vesta::agent
