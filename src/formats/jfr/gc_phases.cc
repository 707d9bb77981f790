#include "formats/jfr/gc_phases.h"

#include <algorithm>
#include <tuple>

namespace vesta::jfr {

namespace {

struct OpenPhase {
  const GcPhase* phase;
  LocationId frame;
  int64_t self_ns;  // what no part of it has taken yet
  bool is_part;
};

}  // namespace

void GcPhases::finish(DictionaryBuilder& builder, Families& families, bool keep_timestamps) {
  std::sort(phases_.begin(), phases_.end(), [](const GcPhase& a, const GcPhase& b) {
    // Wholes before their parts.
    return std::tuple(a.gc_id, a.concurrent, a.start_ns, a.level, b.duration_ns, a.name) <
           std::tuple(b.gc_id, b.concurrent, b.start_ns, b.level, a.duration_ns, b.name);
  });
  std::vector<OpenPhase> open;
  std::vector<LocationId> stack;
  const auto close_last = [&] {
    stack.clear();
    for (size_t i = open.size(); i-- > 0;) stack.push_back(open[i].frame);
    const OpenPhase& last = open.back();
    const auto collection = collections_.find(last.phase->gc_id);
    if (collection != collections_.end()) stack.push_back(collection->second);
    const std::array<int64_t, 2> values{last.is_part ? 0 : 1, last.self_ns};
    families.add(last.phase->concurrent ? Family::kGcConcurrent : Family::kGcPause,
                 builder.stack(stack), values, {}, {}, keep_timestamps ? last.phase->start_ns : 0);
    open.pop_back();
  };
  for (const GcPhase& phase : phases_) {
    const auto holds = [&](const GcPhase& outer) {
      return outer.gc_id == phase.gc_id && outer.concurrent == phase.concurrent &&
             outer.level < phase.level &&
             static_cast<uint64_t>(phase.start_ns) - static_cast<uint64_t>(outer.start_ns) <=
                 static_cast<uint64_t>(outer.duration_ns);
    };
    while (!open.empty() && !holds(*open.back().phase)) close_last();
    OpenPhase next{&phase, builder.frame(builder.dictionary().string(phase.name)),
                   phase.duration_ns, !open.empty()};
    if (!open.empty()) {
      // Clocks of threads differ a little; a part never takes more than its whole has left.
      next.self_ns = std::min(next.self_ns, open.back().self_ns);
      open.back().self_ns -= next.self_ns;
    }
    open.push_back(next);
  }
  while (!open.empty()) close_last();
  phases_.clear();
}

}  // namespace vesta::jfr
