#include "agent/process/side_band.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>

#include "agent/process/proc_files.h"
#include "agent/process/side_band_decode.h"
#include "base/clock.h"

namespace vesta::agent {
namespace {

perf_event_attr side_band_attr(bool build_ids, bool kernel_code, uint32_t wakeup_bytes) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.exclude_kernel = 1;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.build_id = build_ids ? 1 : 0;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.ksymbol = kernel_code ? 1 : 0;
  attr.bpf_event = kernel_code ? 1 : 0;
  attr.watermark = 1;
  attr.wakeup_watermark = wakeup_bytes;
  return attr;
}

}  // namespace

Result<std::unique_ptr<SideBand>> SideBand::open(const SideBandOptions& options) {
  std::unique_ptr<SideBand> band(new SideBand(options));
  band->epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!band->epoll_.valid()) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot create an epoll descriptor: {}", std::strerror(errno)), ""};
  }
  VESTA_TRY(band->update_cpus());
  if (band->rings_.empty()) return Error{ErrorCode::kIo, "cannot watch any CPU", ""};
  return band;
}

SideBand::~SideBand() = default;

Status SideBand::open_cpu(int cpu) {
  // Older kernels refuse flags they do not know: build_id came with 5.12, bpf_event with 5.1.
  while (true) {
    auto ring =
        PerfRing::open(side_band_attr(has_build_ids_, has_kernel_code_, options_.wakeup_bytes), cpu,
                       options_.ring_bytes);
    if (!ring && ring.error().code == ErrorCode::kUnsupported) {
      if (has_build_ids_) {
        has_build_ids_ = false;
        continue;
      }
      if (has_kernel_code_) {
        has_kernel_code_ = false;
        continue;
      }
    }
    if (!ring) return std::move(ring).error();
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = ring->fd();
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ring->fd(), &event) != 0) {
      return Error{ErrorCode::kIo,
                   fmt::format("cannot wait for a perf event: {}", std::strerror(errno)), ""};
    }
    rings_.emplace(cpu, std::move(*ring));
    return {};
  }
}

Status SideBand::update_cpus() {
  VESTA_ASSIGN(const std::vector<int> online, online_cpus(options_.online_cpus));
  for (auto it = rings_.begin(); it != rings_.end();) {
    if (std::ranges::find(online, it->first) != online.end()) {
      ++it;
      continue;
    }
    // What it still holds is handed out with the next drain.
    if (!it->second.read(buffer_)) ++counters_.damaged;
    it = rings_.erase(it);
  }
  for (const int cpu : online) {
    if (rings_.contains(cpu)) continue;
    Status status = open_cpu(cpu);
    // Offline again since the list was read.
    if (!status && status.error().code == ErrorCode::kNotFound) continue;
    VESTA_TRY(std::move(status));
  }
  return {};
}

void SideBand::drain(const std::function<void(const SideBandEvent&)>& callback) {
  const uint64_t horizon = monotonic_ns();
  for (auto& [cpu, ring] : rings_) {
    if (!ring.read(buffer_)) ++counters_.damaged;
  }
  pending_.clear();
  SideBandEvent event;
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const auto offset = static_cast<size_t>(rest.data() - buffer_.data());
    const std::string_view record = next_perf_record(rest);
    if (record.empty()) {
      ++counters_.damaged;
      break;
    }
    switch (decode_side_band(record, event)) {
      case SideBandDecode::kEvent:
        pending_.push_back({time_of(event), offset});
        break;
      case SideBandDecode::kDamaged:
        ++counters_.damaged;
        break;
      case SideBandDecode::kIgnored:
        break;
    }
  }
  std::ranges::stable_sort(pending_, {}, &Pending::time_ns);
  std::string kept;
  for (const Pending& item : pending_) {
    std::string_view bytes = std::string_view(buffer_).substr(item.offset);
    const std::string_view record = next_perf_record(bytes);
    if (item.time_ns > horizon) {
      kept += record;
      continue;
    }
    if (decode_side_band(record, event) != SideBandDecode::kEvent) continue;
    ++counters_.events;
    if (const auto* lost = std::get_if<LostEvent>(&event)) counters_.lost += lost->count;
    callback(event);
  }
  buffer_ = std::move(kept);
}

}  // namespace vesta::agent
