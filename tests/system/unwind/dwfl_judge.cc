#include "dwfl_judge.h"

#include <sys/uio.h>

#include <cstdlib>

namespace vesta::agent {
namespace {

constexpr size_t kMaxFrames = 4096;

bool read_bytes(pid_t pid, uint64_t address, void* out, size_t bytes) {
  const iovec local{out, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

int note_frame(Dwfl_Frame* frame, void* argument) {
  auto& frames = *static_cast<std::vector<JudgedFrame>*>(argument);
  Dwarf_Addr pc = 0;
  bool is_activation = false;
  if (!dwfl_frame_pc(frame, &pc, &is_activation)) return DWARF_CB_ABORT;
  frames.push_back({pc, is_activation});
  return frames.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace

const Dwfl_Callbacks DwflJudge::kCallbacks = {dwfl_linux_proc_find_elf,
                                              dwfl_standard_find_debuginfo, nullptr, nullptr};
const Dwfl_Thread_Callbacks DwflJudge::kThreadCallbacks = {
    DwflJudge::next_thread,   nullptr, DwflJudge::read_memory,
    DwflJudge::set_registers, nullptr, nullptr};

std::unique_ptr<DwflJudge> DwflJudge::open(pid_t pid) {
  std::unique_ptr<DwflJudge> judge(new DwflJudge());
  judge->dwfl_.reset(dwfl_begin(&kCallbacks));
  Dwfl* dwfl = judge->dwfl_.get();
  if (dwfl == nullptr || dwfl_linux_proc_report(dwfl, pid) != 0 ||
      dwfl_report_end(dwfl, nullptr, nullptr) != 0 ||
      !dwfl_attach_state(dwfl, nullptr, pid, &kThreadCallbacks, judge.get())) {
    return nullptr;
  }
  judge->thread_ = pid;
  return judge;
}

pid_t DwflJudge::next_thread(Dwfl* /*dwfl*/, void* self, void** thread_argument) {
  if (*thread_argument != nullptr) return 0;
  *thread_argument = self;
  return static_cast<DwflJudge*>(self)->thread_;
}

bool DwflJudge::read_memory(Dwfl* /*dwfl*/, Dwarf_Addr address, Dwarf_Word* value, void* self) {
  return read_bytes(static_cast<DwflJudge*>(self)->thread_, address, value, sizeof(*value));
}

bool DwflJudge::set_registers(Dwfl_Thread* thread, void* self) {
  const auto& registers = static_cast<DwflJudge*>(self)->registers_;
  return dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(registers.size()),
                                     registers.data());
}

JudgedStack DwflJudge::unwind(pid_t thread, const user_regs_struct& registers) {
  thread_ = thread;
  registers_ = {registers.rax, registers.rdx, registers.rcx, registers.rbx, registers.rsi,
                registers.rdi, registers.rbp, registers.rsp, registers.r8,  registers.r9,
                registers.r10, registers.r11, registers.r12, registers.r13, registers.r14,
                registers.r15, registers.rip};
  JudgedStack stack;
  if (dwfl_getthread_frames(dwfl_.get(), thread, note_frame, &stack.frames) != 0) {
    const char* message = dwfl_errmsg(-1);
    stack.problem = message != nullptr ? message : "not known";
  }
  return stack;
}

bool DwflJudge::has_rule(uint64_t address) const {
  Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), address);
  if (module == nullptr) return false;
  for (const auto open : {dwfl_module_eh_cfi, dwfl_module_dwarf_cfi}) {
    Dwarf_Addr bias = 0;
    Dwarf_CFI* cfi = open(module, &bias);
    Dwarf_Frame* frame = nullptr;
    if (cfi == nullptr || dwarf_cfi_addrframe(cfi, address - bias, &frame) != 0) continue;
    free(frame);  // NOLINT(cppcoreguidelines-no-malloc): libdw allocates it so.
    return true;
  }
  return false;
}

std::string DwflJudge::function(uint64_t address) const {
  Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), address);
  const char* name = module != nullptr ? dwfl_module_addrname(module, address) : nullptr;
  return name != nullptr ? name : "";
}

bool is_after_call(pid_t pid, uint64_t address) {
  constexpr size_t kLongestCall = 8;
  constexpr unsigned char kNearCall = 0xe8;
  constexpr unsigned char kGroup5 = 0xff;
  std::array<unsigned char, kLongestCall> bytes{};
  if (!read_bytes(pid, address - kLongestCall, bytes.data(), bytes.size())) return false;
  if (bytes[kLongestCall - 5] == kNearCall) return true;
  for (size_t length = 2; length < kLongestCall; ++length) {
    const size_t at = kLongestCall - length;
    // The second opcode of group 5 is the call through a register or memory.
    if (bytes[at] == kGroup5 && ((bytes[at + 1] >> 3) & 7) == 2) return true;
  }
  return false;
}

}  // namespace vesta::agent
