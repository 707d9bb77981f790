// Unwinds a stopped thread with elfutils' libdwfl: the other opinion. Reads its memory while it
// stands still. One owner thread. Test code only.
#pragma once

#include <elfutils/libdwfl.h>
#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vesta::agent {

struct JudgedFrame {
  uint64_t pc = 0;
  // The instruction itself, not the one after a call. Also set for the frame that a signal handler
  // returns to, about which unwinders differ.
  bool is_activation = false;
};

struct JudgedStack {
  std::vector<JudgedFrame> frames;  // innermost first
  std::string problem;              // why it ended early; empty at the outermost frame
};

class DwflJudge {
 public:
  // Knows the files that the process has mapped now. Null when libdwfl cannot read them.
  static std::unique_ptr<DwflJudge> open(pid_t pid);

  JudgedStack unwind(pid_t thread, const user_regs_struct& registers);
  // False where no call frame information covers the address: what libdwfl says of the frame there
  // is a guess.
  bool has_rule(uint64_t address) const;
  // Of the function at an address; empty when there is none.
  std::string function(uint64_t address) const;

 private:
  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  DwflJudge() = default;
  static pid_t next_thread(Dwfl* dwfl, void* self, void** thread_argument);
  static bool read_memory(Dwfl* dwfl, Dwarf_Addr address, Dwarf_Word* value, void* self);
  static bool set_registers(Dwfl_Thread* thread, void* self);

  static const Dwfl_Callbacks kCallbacks;
  static const Dwfl_Thread_Callbacks kThreadCallbacks;
  std::unique_ptr<Dwfl, End> dwfl_;
  pid_t thread_ = 0;
  std::array<Dwarf_Word, 17> registers_{};  // by DWARF number; the last is rip
};

// True when the instruction before the address is a call, read from the stopped process. A wrong
// unwinder finds words that only look like return addresses.
bool is_after_call(pid_t pid, uint64_t address);

}  // namespace vesta::agent
