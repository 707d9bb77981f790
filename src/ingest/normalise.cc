#include "ingest/normalise.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/time.h"
#include "ingest/profile_types.h"
#include "profile/merge/transform.h"

namespace vesta {
namespace {

// Nobody profiles for longer than this in one go; a larger number is a mistake of units.
constexpr int64_t kMaxDuration = 366 * kDay;
// Milliseconds taken for nanoseconds are a time early in this year.
constexpr int64_t kEndOf1970 = 365 * kDay;

Status normalise_times(Profile& profile, const HeaderRules& rules) {
  if (profile.duration_ns < 0 || profile.duration_ns > kMaxDuration) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("duration: {} ns is not a valid duration", profile.duration_ns),
                 "a profile may cover up to 366 days"};
  }
  const bool unknown = profile.time_ns == 0 || (rules.hints.distrust_1970 && profile.time_ns > 0 &&
                                                profile.time_ns < kEndOf1970);
  if (unknown) {
    profile.time_ns = rules.hints.time_ns != 0
                          ? rules.hints.time_ns
                          : rules.now_ns - std::max<int64_t>(0, profile.duration_ns);
  }
  const int64_t latest = saturating_add(rules.now_ns, rules.limits.max_ahead_ns);
  const int64_t earliest =
      rules.limits.max_age_ns == 0 ? 0 : saturating_subtract(rules.now_ns, rules.limits.max_age_ns);
  if (profile.time_ns < earliest || profile.time_ns > latest) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("time: {} is outside the accepted range, {} to {}",
                             time_text(profile.time_ns), time_text(earliest), time_text(latest)),
                 "check the sender's clock and unit (nanoseconds since 1970), or change the "
                 "tenant's max_age and max_ahead"};
  }
  return {};
}

}  // namespace

std::string time_text(int64_t time_ns) {
  // Rounded down, so that times before 1970 are right as well.
  const int64_t seconds = time_ns / kSecond - (time_ns % kSecond < 0 ? 1 : 0);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

Status normalise_header(Dictionary& dictionary, Profile& profile, const HeaderRules& rules) {
  if (profile.sample_types.empty()) {
    return Error{ErrorCode::kInvalidInput, "sample_type: missing",
                 "a profile must state what it counts, such as cpu in nanoseconds"};
  }
  if (!rules.family.empty()) {
    profile.name = dictionary.strings.add(rules.family);
  } else if (dictionary.string(profile.name).empty()) {
    profile.name = dictionary.strings.add(
        rules.hints.name.empty() ? guess_family(dictionary, profile, default_display_names())
                                 : rules.hints.name);
  }
  if (dictionary.string(profile.name).starts_with(kDeltaFamilyPrefix)) {
    const std::string name(dictionary.string(profile.name).substr(kDeltaFamilyPrefix.size()));
    profile.name = dictionary.strings.add(name);
  }
  profile.name = without_colons(dictionary, profile.name);
  for (SampleType& type : profile.sample_types) {
    type.type = without_colons(dictionary, type.type);
    type.unit = without_colons(dictionary, type.unit);
    type.temporality = temporality_of(dictionary.string(type.type));
    if (dictionary.string(type.type).empty())
      return Error{ErrorCode::kInvalidInput, "sample_type: the name is missing", ""};
  }
  profile.period_type.type = without_colons(dictionary, profile.period_type.type);
  profile.period_type.unit = without_colons(dictionary, profile.period_type.unit);
  profile.period = std::max<int64_t>(0, profile.period);
  return normalise_times(profile, rules);
}

void drop_empty_rows(Profile& profile, bool keep_negative, IngestCounters& counters) {
  const size_t types = profile.sample_types.size();
  const int64_t* const values = profile.samples.values.data();
  const size_t rows = profile.samples.size();
  uint64_t negative = 0;
  uint64_t zero = 0;
  for (size_t row = 0; row < rows; ++row) {
    int64_t bits = 0;
    for (size_t type = 0; type < types; ++type) bits |= values[row * types + type];
    negative += bits < 0 && !keep_negative ? 1 : 0;
    zero += bits == 0 ? 1 : 0;
  }
  if (negative + zero == 0) return;
  counters.note(IngestNote::kNegativeSamples, negative);
  counters.note(IngestNote::kZeroSamples, zero);
  retain_samples(profile, [&](size_t row) {
    int64_t bits = 0;
    for (const int64_t value : profile.values(row)) bits |= value;
    return bits > 0 || (keep_negative && bits < 0);
  });
}

}  // namespace vesta
