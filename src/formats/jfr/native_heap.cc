#include "formats/jfr/native_heap.h"

#include <algorithm>
#include <tuple>

namespace vesta::jfr {

void NativeHeap::finish(Families& families, bool keep_timestamps) {
  if (!has_frees_) return;
  // Stable: events of one moment stay as they were written.
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.address, a.time_ns) < std::tuple(b.address, b.time_ns);
  });
  for (size_t i = 0; i < events_.size(); ++i) {
    const Event& event = events_[i];
    // The last word on an address decides.
    if (i + 1 < events_.size() && events_[i + 1].address == event.address) continue;
    if (event.is_free) continue;
    const std::array<int64_t, 2> values{1, event.bytes};
    families.add(Family::kInUse, event.stack, values, event.labels, {},
                 keep_timestamps ? event.time_ns : 0);
  }
  events_.clear();
}

}  // namespace vesta::jfr
