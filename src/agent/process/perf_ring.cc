#include "agent/process/perf_ring.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

namespace vesta::agent {
namespace {

constexpr size_t kRingPage = 4096;
constexpr size_t kSmallestRing = 4 * kRingPage;

Error event_error(int error_number, int cpu) {
  Error error{
      ErrorCode::kIo,
      fmt::format("cannot open a perf event on CPU {}: {}", cpu, std::strerror(error_number)), ""};
  if (error_number == EACCES || error_number == EPERM) {
    error.code = ErrorCode::kPermission;
    error.hint = "run as root or grant CAP_PERFMON (vesta doctor shows how)";
  } else if (error_number == ENODEV || error_number == ENXIO) {
    error.code = ErrorCode::kNotFound;  // the CPU went offline
  } else if (error_number == EINVAL) {
    error.code = ErrorCode::kUnsupported;
  }
  return error;
}

}  // namespace

Result<PerfRing> PerfRing::open(const perf_event_attr& attr, int cpu, size_t bytes) {
  perf_event_attr copy = attr;
  UniqueFd fd(
      static_cast<int>(::syscall(SYS_perf_event_open, &copy, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd.valid()) return event_error(errno, cpu);
  size_t size = std::bit_ceil(std::max(bytes, kSmallestRing));
  while (true) {
    void* pages =
        ::mmap(nullptr, kRingPage + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (pages != MAP_FAILED) return PerfRing(std::move(fd), pages, size);
    // EPERM: above perf_event_mlock_kb without CAP_IPC_LOCK. ENOMEM: no memory in one go.
    if ((errno != EPERM && errno != ENOMEM) || size <= kSmallestRing) {
      return Error{errno == EPERM ? ErrorCode::kPermission : ErrorCode::kIo,
                   fmt::format("cannot map the ring of a perf event: {}", std::strerror(errno)),
                   "grant CAP_IPC_LOCK or raise kernel.perf_event_mlock_kb"};
    }
    size /= 2;
  }
}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : fd_(std::move(other.fd_)),
      pages_(std::exchange(other.pages_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

PerfRing& PerfRing::operator=(PerfRing&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(pages_, other.pages_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PerfRing::~PerfRing() {
  if (pages_ != nullptr) ::munmap(pages_, kRingPage + bytes_);
}

bool PerfRing::read(std::string& out) {
  auto* control = static_cast<perf_event_mmap_page*>(pages_);
  const char* data = static_cast<const char*>(pages_) + kRingPage;
  // The kernel publishes data_head after the bytes before it; we hand them back by data_tail.
  const uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
  const uint64_t tail = control->data_tail;
  const uint64_t used = head - tail;
  const bool is_sane = used <= bytes_;
  if (is_sane && used != 0) {
    const size_t start = tail & (bytes_ - 1);
    const size_t first = std::min<size_t>(used, bytes_ - start);
    out.append(data + start, first);
    out.append(data, used - first);
  }
  __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
  return is_sane;
}

}  // namespace vesta::agent
