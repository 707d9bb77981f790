#include "agent/dump/thread_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <threads.skel.h>
#include "agent/kernel/bpf_log.h"
#include "agent/kernel/privileges.h"
#include "base/file.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxThreads = 1 << 17;

// Bits of task_struct::__state (include/linux/sched.h).
constexpr uint32_t kInterruptible = 0x1;
constexpr uint32_t kUninterruptible = 0x2;
constexpr uint32_t kStopped = 0x4;
constexpr uint32_t kTraced = 0x8;
constexpr uint32_t kDead = 0x80;
constexpr uint32_t kNoLoad = 0x400;

constexpr std::string_view kProgram = "load the program that reads threads";

// The session is for the targets and the pid namespace alone.
KernelSessionOptions targets_only() {
  KernelSessionOptions options;
  options.only_targets = true;
  options.ring_bytes = 4096;
  options.max_processes = options.max_leaves = options.max_modules = 1;
  return options;
}

}  // namespace

void ThreadReader::Skeleton::operator()(threads_bpf* skeleton) const {
  threads_bpf__destroy(skeleton);
}
void ThreadReader::Link::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}
ThreadReader::ThreadReader(ThreadReader&&) noexcept = default;
ThreadReader& ThreadReader::operator=(ThreadReader&&) noexcept = default;
ThreadReader::~ThreadReader() = default;

Result<ThreadReader> ThreadReader::load(std::span<const uint32_t> pids) {
  ThreadReader reader;
  VESTA_ASSIGN(reader.session_, KernelSession::load(targets_only()));
  for (const uint32_t pid : pids) VESTA_TRY(reader.session_->add_target(pid));
  const BpfLog log;
  reader.skeleton_.reset(threads_bpf__open());
  if (reader.skeleton_ == nullptr) return load_error(kProgram, errno, log.text());
  threads_bpf& skeleton = *reader.skeleton_;
  VESTA_TRY(reader.session_->share_with(skeleton.obj, 0));
  if (const int error = threads_bpf__load(&skeleton); error != 0)
    return load_error(kProgram, -error, log.text());
  reader.link_.reset(bpf_program__attach_iter(skeleton.progs.write_thread, nullptr));
  if (reader.link_ == nullptr) return load_error(kProgram, errno, log.text());
  return reader;
}

Result<std::vector<vesta_thread>> ThreadReader::read() const {
  const UniqueFd fd(bpf_iter_create(bpf_link__fd(link_.get())));
  if (!fd.valid()) return permission_error("read threads", errno);
  std::vector<vesta_thread> threads;
  size_t bytes = 0;
  while (bytes < kMaxThreads * sizeof(vesta_thread)) {
    threads.resize(bytes / sizeof(vesta_thread) + 65);
    const size_t room = threads.size() * sizeof(vesta_thread) - bytes;
    const ssize_t got = ::read(fd.get(), reinterpret_cast<char*>(threads.data()) + bytes, room);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) {
      return Error{ErrorCode::kIo, fmt::format("cannot read threads: {}", std::strerror(errno)),
                   ""};
    }
    if (got == 0) break;
    bytes += static_cast<size_t>(got);
  }
  threads.resize(bytes / sizeof(vesta_thread));
  for (vesta_thread& thread : threads) {
    if (thread.kernel_frames > VESTA_MAX_KERNEL_FRAMES) thread.kernel_frames = 0;
  }
  return threads;
}

bool has_not_run(const vesta_thread& before, const vesta_thread& after) {
  return ((before.flags | after.flags) & VESTA_THREAD_ON_CPU) == 0 && before.tid == after.tid &&
         before.pid == after.pid && before.switches == after.switches &&
         std::memcmp(&before.registers, &after.registers, sizeof(before.registers)) == 0;
}

std::string thread_state_name(const vesta_thread& thread) {
  if ((thread.flags & VESTA_THREAD_ON_CPU) != 0) return "running";
  if (thread.state == 0) return "runnable";
  if ((thread.state & kTraced) != 0) return "stopped by a debugger";
  if ((thread.state & kStopped) != 0) return "stopped";
  if ((thread.state & kDead) != 0) return "ended";
  if ((thread.state & kInterruptible) != 0) return "sleeping";
  if ((thread.state & kUninterruptible) != 0)
    return (thread.state & kNoLoad) != 0 ? "idle" : "waiting, uninterruptible";
  return fmt::format("state {:#x}", thread.state);
}

}  // namespace vesta::agent
