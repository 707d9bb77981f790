// The ring that the kernel writes the records of one perf event into, mapped. Owns the event and
// the mapping. One reader at a time; the kernel writes concurrently.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

class PerfRing {
 public:
  // Opens the event for all processes on one CPU and maps a ring of `bytes` (rounded to a power of
  // two of pages). When locked memory does not suffice, smaller rings are tried down to 16 KiB.
  static Result<PerfRing> open(const perf_event_attr& attr, int cpu, size_t bytes);

  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&& other) noexcept;
  ~PerfRing();

  int fd() const { return fd_.get(); }
  size_t bytes() const { return bytes_; }

  // Appends all that is in the ring to `out`, whole records, and gives the room back. False when
  // the kernel's positions make no sense; the ring is then emptied.
  bool read(std::string& out);

 private:
  PerfRing(UniqueFd fd, void* pages, size_t bytes)
      : fd_(std::move(fd)), pages_(pages), bytes_(bytes) {}

  UniqueFd fd_;
  void* pages_ = nullptr;  // one control page, then the ring
  size_t bytes_ = 0;
};

}  // namespace vesta::agent
