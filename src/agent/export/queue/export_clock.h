// What exporters know of time and chance, so that tests can make an hour pass in a moment. The
// system's own is shared and stateless; thread-safe.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace vesta::agent {

class ExportClock {
 public:
  ExportClock() = default;
  virtual ~ExportClock() = default;
  ExportClock(const ExportClock&) = delete;
  ExportClock& operator=(const ExportClock&) = delete;

  virtual UnixNs unix_now() const = 0;
  virtual BootNs boot_now() const = 0;
  // Which boot that counts from; 0 = not known.
  virtual uint64_t boot_id() const = 0;
  // Evenly from [0, 1).
  virtual double random() const = 0;
};

const ExportClock& system_export_clock();

}  // namespace vesta::agent
