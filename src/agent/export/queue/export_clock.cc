#include "agent/export/queue/export_clock.h"

#include <random>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kMaxBootIdBytes = 4096;

uint64_t read_boot_id() {
  const auto file = InputFile::open("/proc/sys/kernel/random/boot_id", kMaxBootIdBytes);
  return file && !file->bytes().empty() ? hash64(file->bytes()) : 0;
}

class SystemExportClock final : public ExportClock {
 public:
  UnixNs unix_now() const override { return vesta::unix_now(); }
  BootNs boot_now() const override { return vesta::boot_now(); }
  uint64_t boot_id() const override { return boot_id_; }
  double random() const override {
    thread_local std::minstd_rand source{std::random_device()()};
    return std::uniform_real_distribution<double>(0, 1)(source);
  }

 private:
  const uint64_t boot_id_ = read_boot_id();
};

}  // namespace

const ExportClock& system_export_clock() {
  static const SystemExportClock kClock;
  return kClock;
}

}  // namespace vesta::agent
