// A clock that a test moves. Thread-safe. Test code only.
#pragma once

#include <atomic>

#include "agent/export/queue/export_clock.h"
#include "base/time.h"

namespace vesta::agent::test {

class TestClock final : public ExportClock {
 public:
  UnixNs unix_now() const override { return UnixNs(unix_); }
  BootNs boot_now() const override { return BootNs(boot_); }
  uint64_t boot_id() const override { return boot_id_; }
  double random() const override { return random_; }

  void advance(int64_t ns) {
    unix_ += ns;
    boot_ += ns;
  }
  void set_wall(UnixNs now) { unix_ = now.ns; }  // as somebody with `date -s` does
  void reboot() {
    boot_ = 0;
    ++boot_id_;
  }
  void set_random(double value) { random_ = value; }

 private:
  std::atomic<int64_t> unix_ = 1'800'000'000 * kSecond;
  std::atomic<int64_t> boot_ = 1000 * kSecond;
  std::atomic<uint64_t> boot_id_ = 7;
  std::atomic<double> random_ = 0.5;
};

}  // namespace vesta::agent::test
