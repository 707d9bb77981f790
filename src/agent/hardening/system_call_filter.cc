#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "agent/hardening/reduce_privileges.h"

namespace vesta::agent {
namespace {

// What no part of an agent does after its start.
constexpr std::array kDenied = {
    // to run or make other programs
    SYS_execve, SYS_execveat, SYS_fork, SYS_vfork,
    // to change other processes
    SYS_ptrace, SYS_process_vm_writev, SYS_process_madvise, SYS_pidfd_getfd, SYS_pidfd_send_signal,
    SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_kcmp, SYS_move_pages,
    SYS_migrate_pages,
    // to change the kernel
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_kexec_file_load,
    SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl, SYS_iopl, SYS_ioperm, SYS_syslog,
    SYS_modify_ldt, SYS_personality, SYS_vhangup, SYS_userfaultfd,
    // to change what it sees
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_move_mount,
    SYS_open_tree, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_mknod,
    SYS_mknodat,
    // with CAP_DAC_READ_SEARCH, a way out of any container
    SYS_open_by_handle_at,
    // to change who it is
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid,
    SYS_setfsgid, SYS_setgroups, SYS_capset, SYS_keyctl, SYS_add_key, SYS_request_key,
    // to change the machine's name and time
    SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime,
    SYS_adjtimex,
    // whose calls no filter sees
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register};

constexpr uint32_t kX32Bit = 0x40000000;
constexpr uint32_t kDeny = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kMissing = SECCOMP_RET_ERRNO | ENOSYS;

constexpr uint32_t low_half_of_argument(int index) {
  return static_cast<uint32_t>(offsetof(seccomp_data, args)) + static_cast<uint32_t>(index) * 8;
}

// A classic BPF program, with jumps that are short because each decision ends at once.
class Program {
 public:
  void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
  void answer(uint32_t action) { add(BPF_RET | BPF_K, action); }
  // The next `steps` only when what was loaded is (not) `value`.
  void unless_equal_skip(uint32_t value, uint8_t steps) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, steps);
  }
  void if_equal_skip(uint32_t value, uint8_t steps) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, steps, 0);
  }
  void unless_at_least_skip(uint32_t value, uint8_t steps) {
    add(BPF_JMP | BPF_JGE | BPF_K, value, 0, steps);
  }
  void if_any_bit_skip(uint32_t bits, uint8_t steps) {
    add(BPF_JMP | BPF_JSET | BPF_K, bits, steps, 0);
  }
  void answer_if_equal(uint32_t value, uint32_t action) {
    unless_equal_skip(value, 1);
    answer(action);
  }
  sock_fprog program() { return {static_cast<unsigned short>(steps_.size()), steps_.data()}; }

 private:
  void add(int code, uint32_t operand, uint8_t if_true = 0, uint8_t if_false = 0) {
    steps_.push_back({static_cast<uint16_t>(code), if_true, if_false, operand});
  }
  std::vector<sock_filter> steps_;
};

Program make_filter(uint32_t own_pid) {
  Program filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.if_equal_skip(AUDIT_ARCH_X86_64, 1);
  filter.answer(kMissing);  // 32-bit calls have other numbers
  filter.load(offsetof(seccomp_data, nr));
  filter.unless_at_least_skip(kX32Bit, 1);
  filter.answer(kMissing);
  // Its flags are in memory, which a filter cannot read; the C library then uses clone.
  filter.answer_if_equal(SYS_clone3, kMissing);
  filter.unless_equal_skip(SYS_clone, 4);
  filter.load(low_half_of_argument(0));
  filter.if_any_bit_skip(CLONE_THREAD, 1);
  filter.answer(kDeny);
  filter.answer(SECCOMP_RET_ALLOW);
  // Whether a process is there may be asked; only itself may it signal.
  filter.unless_equal_skip(SYS_kill, 6);
  filter.load(low_half_of_argument(1));
  filter.if_equal_skip(0, 3);
  filter.load(low_half_of_argument(0));
  filter.if_equal_skip(own_pid, 1);
  filter.answer(kDeny);
  filter.answer(SECCOMP_RET_ALLOW);
  // raise() and abort() of the C library.
  filter.unless_equal_skip(SYS_tgkill, 4);
  filter.load(low_half_of_argument(0));
  filter.if_equal_skip(own_pid, 1);
  filter.answer(kDeny);
  filter.answer(SECCOMP_RET_ALLOW);
  // A file can be told to signal a process when there is something to read.
  filter.unless_equal_skip(SYS_fcntl, 6);
  filter.load(low_half_of_argument(1));
  filter.if_equal_skip(F_SETOWN, 3);
  filter.if_equal_skip(F_SETOWN_EX, 2);
  filter.if_equal_skip(F_SETSIG, 1);
  filter.answer(SECCOMP_RET_ALLOW);
  filter.answer(kDeny);
  filter.unless_equal_skip(SYS_ioctl, 5);
  filter.load(low_half_of_argument(1));
  filter.if_equal_skip(FIOSETOWN, 2);
  filter.if_equal_skip(SIOCSPGRP, 1);
  filter.answer(SECCOMP_RET_ALLOW);
  filter.answer(kDeny);
  for (const long call : kDenied) filter.answer_if_equal(static_cast<uint32_t>(call), kDeny);
  filter.answer(SECCOMP_RET_ALLOW);
  return filter;
}

}  // namespace

Status filter_system_calls() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return permission_error("disable gaining privileges", errno);
  Program filter = make_filter(static_cast<uint32_t>(::getpid()));
  sock_fprog program = filter.program();
  const long thread = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG, &program);
  if (thread == 0) return {};
  if (thread < 0) return permission_error("filter system calls", errno);
  return Error{ErrorCode::kIo, fmt::format("thread {} has its own system call filter", thread), ""};
}

}  // namespace vesta::agent
