#include "formats/jfr/families.h"

namespace vesta::jfr {

namespace {

constexpr std::array<FamilySpec, static_cast<size_t>(Family::kCount)> kSpecs{{
    {"process_cpu", {"cpu", "samples"}, {"nanoseconds", "count"}, "cpu", "nanoseconds"},
    {"execution", {"time", "samples"}, {"nanoseconds", "count"}, "time", "nanoseconds"},
    {"perf_event", {"", "samples"}, {"count", "count"}, "", "count"},
    {"wall", {"wall"}, {"nanoseconds"}, "wall", "nanoseconds"},
    {"native", {"native", "samples"}, {"nanoseconds", "count"}, "native", "nanoseconds"},
    {"memory",
     {"alloc_in_new_tlab_objects", "alloc_in_new_tlab_bytes"},
     {"count", "bytes"},
     "space",
     "bytes"},
    {"memory",
     {"alloc_outside_tlab_objects", "alloc_outside_tlab_bytes"},
     {"count", "bytes"},
     "space",
     "bytes"},
    {"memory",
     {"alloc_sample_objects", "alloc_sample_bytes"},
     {"count", "bytes"},
     "space",
     "bytes"},
    {"memory", {"live", "live_bytes"}, {"count", "bytes"}, "objects", "count"},
    {"old_objects", {"live_objects", "live_bytes"}, {"count", "bytes"}, "objects", "count"},
    {"memory", {"malloc_objects", "malloc_bytes"}, {"count", "bytes"}, "", ""},
    {"memory", {"inuse_objects", "inuse_space"}, {"count", "bytes"}, "space", "bytes"},
    {"mutex", {"contentions", "delay"}, {"count", "nanoseconds"}, "mutex", "count"},
    {"block", {"contentions", "delay"}, {"count", "nanoseconds"}, "block", "count"},
    {"native_lock", {"contentions", "delay"}, {"count", "nanoseconds"}, "mutex", "count"},
    {"monitor_wait", {"waits", "delay"}, {"count", "nanoseconds"}, "wait", "count"},
    {"thread_sleep", {"waits", "delay"}, {"count", "nanoseconds"}, "wait", "count"},
    {"io", {"operations", "delay", "bytes"}, {"count", "nanoseconds", "bytes"}, "io", "count"},
    {"gc",
     {"collections", "duration", "pauses"},
     {"count", "nanoseconds", "nanoseconds"},
     "gc",
     "count"},
    {"gc_pause", {"pauses", "duration"}, {"count", "nanoseconds"}, "gc", "count"},
    {"gc_concurrent", {"phases", "duration"}, {"count", "nanoseconds"}, "gc", "count"},
}};

SampleType make_type(DictionaryBuilder& builder, std::string_view type, std::string_view unit) {
  return {builder.string(type), builder.string(unit), temporality_of(type)};
}

// What to show first: the time or the bytes rather than the count.
uint32_t default_type(const FamilySpec& spec) {
  for (uint32_t i = 0; i < spec.type_count(); ++i)
    if (spec.units[i] == "nanoseconds" || spec.units[i] == "bytes") return i;
  return 0;
}

}  // namespace

const FamilySpec& family_spec(Family family) {
  return kSpecs[static_cast<size_t>(family)];
}

Families::Families() {
  for (const FamilySpec& spec : kSpecs) tables_.emplace_back(spec.type_count());
}

void Families::add_loss(Family family, std::string_view reason, uint64_t count) {
  if (count == 0) return;
  std::vector<NamedLoss>& losses = losses_[static_cast<size_t>(family)];
  for (NamedLoss& loss : losses) {
    if (loss.reason == reason) {
      loss.count += count;
      return;
    }
  }
  losses.push_back({reason, count});
}

void Families::set_period(Family family, int64_t period) {
  int64_t& known = periods_[static_cast<size_t>(family)];
  if (known == 0) known = period;
}

size_t Families::row_count() const {
  size_t rows = 0;
  for (const SampleTable& table : tables_) rows += table.size();
  return rows;
}

std::vector<Profile> Families::finish(DictionaryBuilder& builder, const RecordingInfo& info) {
  std::vector<Profile> profiles;
  const bool has_cpu_time = tables_[static_cast<size_t>(Family::kCpu)].size() > 0;
  for (size_t i = 0; i < kFamilies; ++i) {
    if (tables_[i].size() == 0 && losses_[i].empty()) continue;
    const bool stands_for_cpu = i == static_cast<size_t>(Family::kExecution) && !has_cpu_time;
    const FamilySpec& spec = stands_for_cpu ? family_spec(Family::kCpu) : kSpecs[i];
    const bool is_perf_event = i == static_cast<size_t>(Family::kPerfEvent);
    const std::string_view first_type = is_perf_event ? info.perf_event : spec.types[0];
    Profile profile;
    profile.name = builder.string(spec.name);
    profile.resource = info.resource;
    for (size_t type = 0; type < spec.type_count(); ++type) {
      profile.sample_types.push_back(
          make_type(builder, type == 0 ? first_type : spec.types[type], spec.units[type]));
    }
    profile.period_type =
        make_type(builder, is_perf_event ? first_type : spec.period_type, spec.period_unit);
    profile.period = periods_[i];
    profile.time_ns = info.time_ns;
    profile.duration_ns = info.duration_ns;
    profile.default_type = default_type(spec);
    for (const NamedLoss& loss : losses_[i])
      profile.add_loss(builder.string(loss.reason), loss.count);
    profile.samples = tables_[i].finish();
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace vesta::jfr
