#include "ingest/ingest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "ingest/go_stacks.h"
#include "ingest/normalise.h"
#include "ingest/profile_types.h"
#include "ingest/split_series.h"
#include "profile/merge/transform.h"

namespace vesta {
namespace {

constexpr size_t kMaxProblems = 8;
// How long a count of the tenant's series is believed.
constexpr int64_t kSeriesCountAge = 5 * kSecond;

LabelSetId add_resource(Dictionary& dictionary, const Labels& labels) {
  for (const auto& [name, value] : labels) {
    Label label;
    label.key = dictionary.strings.add(name);
    label.text = dictionary.strings.add(value);
    dictionary.label_sets.push(label);
  }
  return dictionary.label_sets.close();
}

void add_part(std::string& key, std::string_view part) {
  key.append(part).push_back('\0');
}

// Which source's counters these are.
Hash128 source_key(std::string_view tenant, const ProfileBatch& batch,
                   const std::vector<Labels>& labels) {
  std::string key(tenant);
  key.push_back('\0');
  for (size_t i = 0; i < batch.profiles.size(); ++i) {
    const Profile& p = batch.profiles[i];
    add_part(key, batch.dictionary.string(p.name));
    for (const SampleType& type : p.sample_types) {
      add_part(key, batch.dictionary.string(type.type));
      add_part(key, batch.dictionary.string(type.unit));
    }
    for (const auto& [name, value] : labels[i]) {
      add_part(key, name);
      add_part(key, value);
    }
    key.push_back('\1');
  }
  return hash128(key);
}

// Whether a counter is less in all than it was.
bool went_down(const Profile& before, const Profile& after) {
  for (size_t type = 0; type < after.sample_types.size(); ++type) {
    if (after.sample_types[type].temporality != Temporality::kInstant &&
        total_of(after, type) < total_of(before, type))
      return true;
  }
  return false;
}

// All that was counted was so since the last reading.
void mark_restart(ProfileBatch& batch, int64_t last_ns) {
  Profile& profile = batch.profiles.front();
  profile.add_loss(batch.dictionary.strings.add("counter reset"), 1);
  profile.duration_ns = saturating_subtract(profile.time_ns, last_ns);
  profile.time_ns = last_ns;
}

// Of the parts of a profile that would have had these labels.
PieceOrigin origin_of(const Labels& labels, const std::vector<SeriesPart>& parts) {
  std::string key;
  for (const auto& [name, value] : labels) {
    add_part(key, name);
    add_part(key, value);
  }
  const std::string_view service = label_value(parts.front().labels, kServiceLabel);
  const bool has_several_services = std::ranges::any_of(parts, [&](const SeriesPart& part) {
    return label_value(part.labels, kServiceLabel) != service;
  });
  return piece_origin(hash64(key), has_several_services);
}

// Labels of one profile after the other are often the same set.
class ResourceLabels {
 public:
  ResourceLabels(const GivenLabels& given, const IngestHints& hints, const TenantLimits& limits,
                 IngestCounters& counters)
      : given_(given), hints_(hints), limits_(limits), counters_(counters) {}

  Result<Labels> of(const Dictionary& dictionary, LabelSetId resource) {
    if (known_ && resource == resource_) return labels_;
    VESTA_ASSIGN(labels_,
                 series_labels(dictionary, resource, given_, hints_.service, limits_, counters_));
    known_ = true;
    resource_ = resource;
    return labels_;
  }

 private:
  const GivenLabels& given_;
  const IngestHints& hints_;
  const TenantLimits& limits_;
  IngestCounters& counters_;
  bool known_ = false;
  LabelSetId resource_;
  Labels labels_;
};

}  // namespace

// Profiles on their way through: what is left of them, and whose they are.
struct Ingest::Passage {
  Passage(std::string_view of_tenant, const TenantLimits& its_limits, const IngestHints& its_hints,
          ProfileBatch its_batch)
      : tenant(of_tenant), limits(its_limits), hints(its_hints), batch(std::move(its_batch)) {}

  std::string_view tenant;
  const TenantLimits& limits;
  const IngestHints& hints;
  GivenLabels given;
  int64_t now_ns = 0;
  ProfileBatch batch;
  std::vector<Labels> labels;         // of each profile
  std::vector<PieceOrigin> piece_of;  // likewise, once they are split
  IngestReceipt receipt;
  // The reading that the next one is compared with, once this one is written.
  std::unique_lock<Mutex> turn;
  Hash128 source;
  std::shared_ptr<const ProfileBatch> reading;
};

Ingest::Ingest(Engine& engine, IngestOptions options)
    : engine_(engine),
      options_(std::move(options)),
      deltas_(options_.max_delta_bytes, counters_),
      // Not where the last run began; under a clock of a test, always the same.
      next_offset_(options_.clock ? 0 : static_cast<uint64_t>(now_ns())) {}

int64_t Ingest::now_ns() const {
  return (options_.clock ? options_.clock() : unix_now()).ns;
}

const TenantLimits& Ingest::limits(std::string_view tenant) const {
  const auto own = options_.tenant_limits.find(tenant);
  return own == options_.tenant_limits.end() ? options_.limits : own->second;
}

ReadOptions Ingest::read_options(std::string_view tenant) const {
  const TenantLimits& limits = this->limits(tenant);
  ReadOptions options;
  options.max_input_bytes = limits.max_body_bytes;
  options.max_decoded_bytes = limits.max_decoded_bytes;
  options.max_samples = limits.max_samples;
  options.max_stack_depth = limits.max_stack_depth;
  options.max_string_bytes = limits.max_string_bytes;
  options.max_labels_per_sample = limits.max_labels_per_sample;
  options.allow_negative = true;  // single rows are dropped and counted, not the whole profile
  options.keep_timestamps = options_.keep_timestamps;
  return options;
}

Result<IngestReceipt> Ingest::write(std::string_view tenant, ProfileBatch batch,
                                    const IngestHints& hints) {
  const TenantLimits& limits = this->limits(tenant);
  Passage passage(tenant, limits, hints, std::move(batch));
  passage.now_ns = now_ns();
  VESTA_TRY(rate_.take(tenant, hints.decoded_bytes, limits.bytes_per_second, limits.burst_bytes,
                       passage.now_ns));
  VESTA_ASSIGN(passage.given, check_given_labels(hints.labels, limits, counters_));
  VESTA_TRY(normalise(passage));
  VESTA_TRY(subtract_last_reading(passage));
  tell_apart(passage);  // before the split: pieces of one profile have one time
  VESTA_TRY(split(passage));
  if (!passage.batch.profiles.empty()) {
    VESTA_TRY(check_series_count(passage));
    WriteOptions options;
    options.durable = hints.durable;
    options.now_ns = passage.now_ns;
    options.piece_of = std::move(passage.piece_of);
    VESTA_ASSIGN(passage.receipt.stored, engine_.write(tenant, passage.batch, options));
  }
  // Not before it is written: the same reading sent again must give the same difference.
  if (passage.reading) deltas_.put(passage.source, std::move(passage.reading));
  auto& counts = counters_.of(hints.protocol);
  counts.profiles.fetch_add(passage.receipt.stored.profiles, std::memory_order_relaxed);
  counts.samples.fetch_add(passage.receipt.stored.samples, std::memory_order_relaxed);
  counts.duplicates.fetch_add(passage.receipt.stored.duplicates, std::memory_order_relaxed);
  counters_.note(IngestNote::kRejectedProfiles, passage.receipt.rejected_profiles);
  return std::move(passage.receipt);
}

Status Ingest::normalise(Passage& passage) {
  ProfileBatch& batch = passage.batch;
  Dictionary& dictionary = batch.dictionary;
  size_t rows = 0;
  for (const Profile& profile : batch.profiles) rows += profile.samples.size();
  if (rows > passage.limits.max_samples) {
    return Error{ErrorCode::kLimit,
                 fmt::format("{} samples in one request exceed the limit of {}", rows,
                             passage.limits.max_samples),
                 "send more often, or raise the tenant's max_samples"};
  }
  if (options_.collapse_go_generics) collapse_go_generics(dictionary);
  ResourceLabels resources(passage.given, passage.hints, passage.limits, counters_);
  const HeaderRules rules{passage.limits, passage.hints, passage.given.name, passage.now_ns};
  std::vector<Profile> taken;
  taken.reserve(batch.profiles.size());
  for (size_t i = 0; i < batch.profiles.size(); ++i) {
    Profile& profile = batch.profiles[i];
    auto labels = resources.of(dictionary, profile.resource);
    Status status = labels ? normalise_header(dictionary, profile, rules) : Status(labels.error());
    if (status) {
      profile.resource = LabelSetId();  // from here on in `labels`
      taken.push_back(std::move(profile));
      passage.labels.push_back(std::move(labels).value());
      continue;
    }
    Error error = std::move(status).error();
    if (batch.profiles.size() > 1)
      error = with_context(std::move(error), fmt::format("profile {}", i));
    if (!passage.hints.partial) return error;
    ++passage.receipt.rejected_profiles;
    if (passage.receipt.problems.size() < kMaxProblems)
      passage.receipt.problems.push_back(std::move(error));
  }
  batch.profiles = std::move(taken);
  const size_t before = batch.profiles.size();
  if (before == 1) {
    separate_cpu_from_wall(dictionary, batch.profiles);
    if (batch.profiles.size() > before) passage.labels.push_back(passage.labels.front());
  }
  return {};
}

Status Ingest::subtract_last_reading(Passage& passage) {
  ProfileBatch& batch = passage.batch;
  const DeltaMode mode = passage.given.is_delta ? DeltaMode::kNever : passage.hints.delta;
  if (mode == DeltaMode::kNever || batch.profiles.size() != 1) return {};
  Profile& profile = batch.profiles.front();
  if (mode != DeltaMode::kAlways && !looks_cumulative(batch.dictionary, profile)) return {};

  passage.source = source_key(passage.tenant, batch, passage.labels);
  passage.turn = deltas_.lock(passage.source);
  const auto last = deltas_.find(passage.source);
  if (!last) return take_first_reading(passage, mode);
  const Profile& earlier = last->profiles.front();
  if (profile.time_ns < earlier.time_ns) {
    // Of another program, then, or of an earlier life of this one.
    if (mode == DeltaMode::kIfFollowing && went_down(profile, earlier)) return {};
    counters_.note(IngestNote::kStaleReadings);
    ++passage.receipt.stale;
    batch.profiles.clear();
    passage.labels.clear();
    return {};
  }
  auto reading = std::make_shared<const ProfileBatch>(std::move(batch));
  if (went_down(earlier, reading->profiles.front())) {
    // The program was started again: all that it counts is new.
    batch = *reading;
    mark_restart(batch, earlier.time_ns);
  } else {
    batch = delta(*last, *reading);
  }
  passage.reading = std::move(reading);
  // A profile without a single row leaves nothing that could be labelled.
  passage.labels.resize(batch.profiles.size());
  return {};
}

Status Ingest::take_first_reading(Passage& passage, DeltaMode mode) {
  Profile& profile = passage.batch.profiles.front();
  passage.reading = std::make_shared<const ProfileBatch>(passage.batch);
  if (mode == DeltaMode::kIfFollowing) {
    VESTA_ASSIGN(const bool follows, stored_lately(passage));
    if (!follows) return {};
  }
  counters_.note(IngestNote::kFirstReadings);
  ++passage.receipt.baselines;
  baselines_.note(passage.tenant, label_value(passage.labels.front(), kServiceLabel),
                  passage.batch.dictionary.string(profile.name), profile.time_ns);
  zero_counters(profile);
  return {};
}

// Whether readings of this source have been stored: we were started anew since, or had to forget
// the last one, and its counters are in the store already.
Result<bool> Ingest::stored_lately(const Passage& passage) {
  constexpr int64_t kLately = kDay;
  const Profile& profile = passage.batch.profiles.front();
  const Labels& labels = passage.labels.front();
  Selector selector;
  const auto must_be = [&](std::string_view name, std::string_view value) -> Status {
    VESTA_ASSIGN(LabelMatcher matcher,
                 LabelMatcher::make(std::string(name), MatchOperator::kEqual, std::string(value)));
    selector.push_back(std::move(matcher));
    return {};
  };
  for (const auto& [name, value] : labels) VESTA_TRY(must_be(name, value));
  VESTA_TRY(must_be("__name__", passage.batch.dictionary.string(profile.name)));
  const TimeRange range{saturating_subtract(profile.time_ns, kLately),
                        saturating_add(profile.time_ns, 1)};
  VESTA_ASSIGN(const auto found, engine_.series(passage.tenant, selector, range));
  return std::ranges::any_of(found, [&](const SeriesInfo& series) {
    // Not one of its many replicas, which have labels besides.
    return std::ranges::count_if(series.labels, [](const auto& label) {
             return !is_reserved_label(label.first);
           }) == static_cast<ptrdiff_t>(labels.size());
  });
}

Status Ingest::split(Passage& passage) {
  ProfileBatch& batch = passage.batch;
  DictionaryBuilder builder(batch.dictionary);
  std::vector<Profile> profiles = std::move(batch.profiles);
  batch.profiles.clear();
  std::vector<Labels> labels;
  for (size_t i = 0; i < profiles.size(); ++i) {
    drop_empty_rows(profiles[i], options_.keep_negative, counters_);
    // Not before the difference was made: what can be repaired differs from reading to reading.
    if (passage.hints.protocol != IngestProtocol::kAgent)
      counters_.note(IngestNote::kRepairedStacks, repair_go_stacks(builder, profiles[i]));
    // An empty heap lowers the average; an empty stretch of time adds nothing to a sum.
    const bool has_gauge = std::ranges::any_of(
        profiles[i].sample_types,
        [](const SampleType& type) { return type.temporality == Temporality::kInstant; });
    if (profiles[i].samples.size() == 0 && profiles[i].losses.empty() && !has_gauge) continue;
    auto parts = split_series(std::move(profiles[i]), passage.labels[i],
                              passage.hints.sample_labels, passage.limits, builder, counters_);
    const PieceOrigin origin =
        parts.size() > 1 ? origin_of(passage.labels[i], parts) : PieceOrigin{0};
    passage.piece_of.insert(passage.piece_of.end(), parts.size(), origin);
    for (SeriesPart& part : parts) {
      part.profile.resource = add_resource(batch.dictionary, part.labels);
      batch.profiles.push_back(std::move(part.profile));
      labels.push_back(std::move(part.labels));
    }
  }
  passage.labels = std::move(labels);
  return {};
}

// The store takes equal profiles of one series and nanosecond for one that was sent twice. Programs
// that know the time to the second or millisecond only can mean two by that: two replicas that did
// the same, say. Those get digits of their own below the millisecond, unless they bring an id.
void Ingest::tell_apart(Passage& passage) {
  const std::string& id = passage.hints.id;
  uint64_t of_id = id.empty() ? 0 : hash64(id);
  for (Profile& profile : passage.batch.profiles) {
    if (profile.time_ns % kMillisecond != 0) continue;
    const uint64_t offset =
        id.empty() ? next_offset_.fetch_add(1, std::memory_order_relaxed) : of_id++;
    profile.time_ns = saturating_add(profile.time_ns, static_cast<int64_t>(offset % kMillisecond));
  }
}

Status Ingest::check_series_count(const Passage& passage) {
  const uint64_t limit = passage.limits.max_series;
  if (limit == 0) return {};
  const std::string tenant(passage.tenant);
  SeriesCount known;
  {
    const MutexLock lock(series_mutex_);
    known = series_counts_[tenant];
  }
  // Without the lock: the store may make this tenant wait, and the lock would make all others.
  if (passage.now_ns - known.time_ns > kSeriesCountAge || known.time_ns == 0) {
    known = {engine_.tenant_stats(passage.tenant).series, passage.now_ns};
    const MutexLock lock(series_mutex_);
    series_counts_[tenant] = known;
  }
  uint64_t series = known.series;
  // As if all were new; the next look at the store puts it right.
  for (const Profile& profile : passage.batch.profiles) series += profile.sample_types.size();
  if (series <= limit) return {};
  // Near the limit each series is looked up: those that are there may go on.
  for (size_t i = 0; i < passage.batch.profiles.size(); ++i) {
    Selector selector;
    for (const auto& [name, value] : passage.labels[i]) {
      VESTA_ASSIGN(LabelMatcher matcher, LabelMatcher::make(name, MatchOperator::kEqual, value));
      selector.push_back(std::move(matcher));
    }
    VESTA_ASSIGN(const auto found, engine_.series(passage.tenant, selector, kAllTime));
    if (found.empty()) {
      return Error{ErrorCode::kTooMany,
                   fmt::format("the tenant has reached its limit of {} series", limit),
                   "send fewer different labels, delete series, or raise the tenant's max_series"};
    }
  }
  return {};
}

}  // namespace vesta
