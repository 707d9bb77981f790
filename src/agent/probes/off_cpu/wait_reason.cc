#include "agent/probes/off_cpu/wait_reason.h"

#include <algorithm>
#include <array>

#include <shared/off_cpu.h>

namespace vesta::agent {
namespace {

struct FunctionRow {
  std::string_view reason;
  std::string_view functions;  // separated by spaces; * at the end: any that begin so
};

// The first row of which a function is on the stack decides. Names of Linux 5.17 to 6.18.
constexpr auto kFunctionRows = std::to_array<FunctionRow>({
    {"kernel lock",
     "rwsem_down_* __mutex_lock* mutex_lock* __rt_mutex_* rt_mutex_* percpu_rwsem_wait "
     "__percpu_down_read __down* down_read* down_write* __wait_rcu_gp"},
    {"page fault", "asm_exc_page_fault exc_page_fault do_user_addr_fault do_swap_page fault_in_*"},
    {"sleep", "hrtimer_nanosleep do_nanosleep common_nsleep"},
    {"child", "do_wait kernel_wait4 kernel_waitid wait_for_vfork_done"},
    {"lock", "do_futex futex_wait __futex_wait futex_lock_pi futex_wait_requeue_pi futex_do_wait"},
    {"poll",
     "do_epoll_wait ep_poll do_sys_poll do_poll poll_schedule_timeout do_select "
     "core_sys_select io_cqring_wait __do_sys_io_uring_enter __io_cqring_wait* "
     "do_io_getevents read_events"},
    {"pipe",
     "pipe_read pipe_write anon_pipe_read anon_pipe_write pipe_wait_* fifo_open "
     "wait_for_partner splice_from_pipe_next"},
    {"network",
     "sk_wait_data sk_stream_wait_* inet_csk_accept inet_accept inet_stream_connect "
     "inet_wait_for_connect inet_csk_wait_for_connect __inet_stream_connect tcp_* udp_* "
     "__skb_wait_for_more_packets __skb_recv_* skb_recv_datagram unix_* netlink_* "
     "vsock_* packet_recvmsg sock_recvmsg sock_sendmsg __sys_accept4 __sys_connect "
     "__sys_recvfrom __sys_sendto rpc_* nfs* cifs* ceph_*"},
    {"event",
     "eventfd_read eventfd_write timerfd_read timerfd_read_iter signalfd_read* "
     "inotify_read fanotify_read"},
    {"file lock",
     "locks_lock_inode_wait posix_lock_inode_wait flock_lock_inode_wait fcntl_setlk "
     "do_lock_file_wait"},
    {"signal", "do_sigtimedwait sigsuspend __do_sys_pause do_pause __x64_sys_pause"},
    {"terminal", "n_tty_read n_tty_write tty_wait_until_sent tty_read"},
    {"ipc",
     "do_mq_timedreceive do_mq_timedsend wq_sleep do_msgrcv do_msgsnd do_semtimedop "
     "__do_semtimedop"},
    {"disk",
     "io_schedule io_schedule_timeout folio_wait_* __folio_* wait_on_page_* blk_* bio_* "
     "submit_bio_wait __wait_on_buffer jbd2_* ext4_* xfs_* btrfs_* f2fs_* fuse_* "
     "file_write_and_wait_range __filemap_fdatawait_range filemap_read filemap_fdatawait* "
     "iomap_dio_* __iomap_dio_rw balance_dirty_pages* sync_inodes_sb vfs_fsync_range "
     "nvme_* virtio_fs_* p9_* v9fs_*"},
});

struct SyscallRow {
  std::string_view reason;
  std::array<uint16_t, 16> numbers;  // of x86-64; 0 fills up
};

// For waits of which no function says more. read (0), write (1) and the like may wait for anything.
constexpr auto kSyscallRows = std::to_array<SyscallRow>({
    {"sleep", {35, 230}},                                  // nanosleep, clock_nanosleep
    {"lock", {202, 449, 455}},                             // futex, futex_waitv, futex_wait
    {"child", {61, 247, 58}},                              // wait4, waitid, vfork
    {"poll", {7, 23, 208, 232, 270, 271, 281, 426, 441}},  // poll, select, epoll_wait, io_uring …
    {"network", {42, 43, 44, 45, 46, 47, 288, 299, 307}},  // connect, accept, sendto, recvfrom …
    {"disk", {17, 18, 26, 74, 75, 162, 277, 295, 296, 306, 327, 328}},  // pread, msync, fsync …
    {"file lock", {72, 73}},                                            // fcntl, flock
    {"signal", {34, 128, 130}},            // pause, sigtimedwait, sigsuspend
    {"ipc", {65, 69, 70, 220, 242, 243}},  // semop, msgsnd, msgrcv, mq_timedsend …
});

bool matches(std::string_view pattern, std::string_view function) {
  if (pattern.ends_with('*')) return function.starts_with(pattern.substr(0, pattern.size() - 1));
  return function == pattern;
}

bool names_any(std::string_view patterns, std::string_view function) {
  while (!patterns.empty()) {
    const size_t end = std::min(patterns.find(' '), patterns.size());
    if (matches(patterns.substr(0, end), function)) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

// Compilers split functions: "do_wait.part.0".
std::string_view without_suffix(std::string_view function) {
  return function.substr(0, function.find('.'));
}

}  // namespace

std::string_view wait_reason(uint64_t detail, std::span<const std::string_view> functions) {
  const uint64_t wait_class = detail >> VESTA_WAIT_CLASS_SHIFT & 0xff;
  const uint64_t syscall = detail & VESTA_WAIT_NO_SYSCALL;
  if (wait_class == VESTA_WAIT_RUN_QUEUE) return "run queue";
  if (wait_class == VESTA_WAIT_STOPPED) return "stopped";
  for (const FunctionRow& row : kFunctionRows) {
    const auto is_of_row = [&](std::string_view function) {
      return !function.empty() && names_any(row.functions, without_suffix(function));
    };
    if (std::ranges::any_of(functions, is_of_row)) return row.reason;
  }
  if ((detail & VESTA_WAIT_FOR_IO) != 0) return "disk";
  for (const SyscallRow& row : kSyscallRows) {
    if (syscall != 0 && std::ranges::find(row.numbers, syscall) != row.numbers.end())
      return row.reason;
  }
  const bool has_names = std::ranges::any_of(functions, [](auto name) { return !name.empty(); });
  if (syscall == VESTA_WAIT_NO_SYSCALL && !has_names) return "page fault";
  return "other";
}

}  // namespace vesta::agent
