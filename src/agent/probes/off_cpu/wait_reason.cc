#include "agent/probes/off_cpu/wait_reason.h"

#include <algorithm>
#include <array>

#include <shared/off_cpu.h>
#include "agent/probes/off_cpu/function_names.h"

namespace vesta::agent {
namespace {

// In place of a reason: futex_reason() decides.
constexpr std::string_view kFutex = "futex";

struct FunctionRow {
  std::string_view reason;
  std::string_view functions;  // separated by spaces; * at the end: any that begin so
};

// The first row of which a function is on the stack decides. Names of Linux 5.17 to 6.18.
constexpr auto kFunctionRows = std::to_array<FunctionRow>({
    // They wait in a lock of the kernel that stands for the user's.
    {kFutex, "futex_lock_pi futex_wait_requeue_pi"},
    {"kernel lock",
     "rwsem_down_* __mutex_lock* mutex_lock* __rt_mutex_* rt_mutex_* percpu_rwsem_wait "
     "__percpu_down_read __down* down_read* down_write* __wait_rcu_gp"},
    {"page fault", "asm_exc_page_fault exc_page_fault do_user_addr_fault do_swap_page fault_in_*"},
    {"sleep", "hrtimer_nanosleep do_nanosleep common_nsleep"},
    {"child", "do_wait kernel_wait4 kernel_waitid wait_for_vfork_done"},
    {kFutex, "do_futex futex_wait __futex_wait futex_do_wait"},
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
    {kFutex, {202, 449, 455}},                             // futex, futex_waitv, futex_wait
    {"child", {61, 247, 58}},                              // wait4, waitid, vfork
    {"poll", {7, 23, 208, 232, 270, 271, 281, 426, 441}},  // poll, select, epoll_wait, io_uring …
    {"network", {42, 43, 44, 45, 46, 47, 288, 299, 307}},  // connect, accept, sendto, recvfrom …
    {"disk", {17, 18, 26, 74, 75, 162, 277, 295, 296, 306, 327, 328}},  // pread, msync, fsync …
    {"file lock", {72, 73}},                                            // fcntl, flock
    {"signal", {34, 128, 130}},            // pause, sigtimedwait, sigsuspend
    {"ipc", {65, 69, 70, 220, 242, 243}},  // semop, msgsnd, msgrcv, mq_timedsend …
});

// Operations of futex(2). Those of a lock with a queue in the kernel can
// mean nothing else.
constexpr uint64_t kWait = 0;
constexpr uint64_t kLockPi = 6;
constexpr uint64_t kWaitBitset = 9;
constexpr uint64_t kLockPi2 = 13;
constexpr uint64_t kPrivate = 0x80;

constexpr std::string_view kLock = "lock";
constexpr std::string_view kCondition = "condition";

// From the futex call to the function that people know: libraries have few frames between.
constexpr size_t kFramesOfALock = 10;

struct UserRow {
  std::string_view reason;
  std::string_view functions;  // separated by spaces; * at the beginning: anywhere in the name
};

// The innermost function that a row names decides. Leading underscores of C do not count.
constexpr auto kUserRows = std::to_array<UserRow>({
    {kLock,
     "pthread_mutex_ pthread_rwlock_ pthread_once lll_lock_wait lll_mutex_lock mtx_lock "
     "cxa_guard_acquire runtime.lock absl::Mutex::Lock absl::Mutex::ReaderLock folly::SharedMutex "
     "*futex::Mutex *futex::RwLock *futex_mutex::Mutex *futex_rwlock::RwLock *RawMutex::lock "
     "*RawRwLock::lock *futex::Once *futex_once::Once"},
    {kCondition,
     "pthread_cond_ pthread_join pthread_timedjoin pthread_clockjoin pthread_barrier_wait sem_wait "
     "sem_timedwait sem_clockwait new_sem_wait cnd_wait cnd_timedwait thrd_join runtime.note "
     "absl::Mutex::Await absl::CondVar *Condvar *thread::park *Parker::park *atomic_wait"},
});

bool names_user(std::string_view patterns, std::string_view function) {
  std::string_view plain = function;
  plain.remove_prefix(std::min(plain.find_first_not_of('_'), plain.size()));
  while (!patterns.empty()) {
    const size_t end = std::min(patterns.find(' '), patterns.size());
    const std::string_view pattern = patterns.substr(0, end);
    if (pattern.starts_with('*') ? function.find(pattern.substr(1)) != std::string_view::npos
                                 : plain.starts_with(pattern))
      return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

}  // namespace

std::string_view futex_reason(uint64_t detail, std::span<const std::string_view> user) {
  const uint64_t operation =
      detail >> VESTA_FUTEX_OPERATION_SHIFT & VESTA_FUTEX_OPERATION_MASK & ~kPrivate;
  const uint64_t value = detail >> VESTA_FUTEX_VALUE_SHIFT & 3;
  const bool has_timeout = (detail & VESTA_FUTEX_HAS_TIMEOUT) != 0;
  if ((detail & VESTA_WAIT_NO_SYSCALL) == VESTA_FUTEX_CALL) {
    if (operation == kLockPi || operation == kLockPi2) return kLock;
    const bool is_plain = operation == kWait || operation == kWaitBitset;
    if (is_plain && value == VESTA_FUTEX_TWO && !has_timeout) return kLock;
    if (value == VESTA_FUTEX_ALL_ONES) return kCondition;
  }
  for (const std::string_view function : user.first(std::min(user.size(), kFramesOfALock))) {
    for (const UserRow& row : kUserRows) {
      if (names_user(row.functions, function)) return row.reason;
    }
  }
  return value == VESTA_FUTEX_OWNED ? kLock : kCondition;
}

std::string_view wait_reason(uint64_t detail, std::span<const std::string_view> kernel,
                             std::span<const std::string_view> user) {
  const uint64_t wait_class = detail >> VESTA_WAIT_CLASS_SHIFT & 0xff;
  const uint64_t syscall = detail & VESTA_WAIT_NO_SYSCALL;
  if (wait_class == VESTA_WAIT_RUN_QUEUE) return "run queue";
  if (wait_class == VESTA_WAIT_STOPPED) return "stopped";
  for (const FunctionRow& row : kFunctionRows) {
    const auto is_of_row = [&](std::string_view function) {
      return !function.empty() && names_any(row.functions, without_suffix(function));
    };
    if (std::ranges::any_of(kernel, is_of_row))
      return row.reason == kFutex ? futex_reason(detail, user) : row.reason;
  }
  if ((detail & VESTA_WAIT_FOR_IO) != 0) return "disk";
  for (const SyscallRow& row : kSyscallRows) {
    if (syscall != 0 && std::ranges::find(row.numbers, syscall) != row.numbers.end())
      return row.reason == kFutex ? futex_reason(detail, user) : row.reason;
  }
  const bool has_names = std::ranges::any_of(kernel, [](auto name) { return !name.empty(); });
  if (syscall == VESTA_WAIT_NO_SYSCALL && !has_names) return "page fault";
  return "other";
}

}  // namespace vesta::agent
