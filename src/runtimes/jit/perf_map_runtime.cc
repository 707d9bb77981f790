#include "runtimes/jit/perf_map_runtime.h"

#include "symbols/perf_map/perf_map.h"

namespace vesta {
namespace {

class PerfMapInstance final : public RuntimeInstance {
 public:
  explicit PerfMapInstance(const RuntimeProcess& process)
      : root_(process.root), map_(static_cast<pid_t>(process.pid), process.uid) {}

  bool name_code(uint64_t address, std::vector<SourceFrame>& frames) override {
    auto name = map_.lookup(address);
    if (!name) {
      // Compiled since the last look, perhaps.
      const auto news = map_.refresh(root_);
      if (!news.ok() || !*news) return false;
      name = map_.lookup(address);
    }
    if (!name) return false;
    frames.emplace_back().name = *name;
    return true;
  }

 private:
  const int root_;
  PerfMap map_;
};

}  // namespace

std::unique_ptr<RuntimeInstance> attach_perf_map(const RuntimeProcess& process) {
  return std::make_unique<PerfMapInstance>(process);
}

}  // namespace vesta
