// Where profiles are kept: the interface of all engines. One engine serves all tenants; what one
// tenant wrote is never seen by another. Every member may be called from any thread at any time.
//
// Time: a profile belongs to the range [start, end) that holds its start. Totals over time, and what
// is chosen by rate, spread it over the time that it covers. Cumulative types are added up. Instant types (a heap,
// goroutines) are averaged over the profiles of a series, rounded so that the total of the series
// stays within half a unit, and then added up over series. A profile without samples is one, too: a
// heap that was empty lowers the average.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "store/selection.h"
#include "store/selector.h"

namespace vesta {

struct TimeRange {
  int64_t start_ns = 0;
  int64_t end_ns = 0;  // not included
  bool contains(int64_t time_ns) const { return time_ns >= start_ns && time_ns < end_ns; }
  bool empty() const { return start_ns >= end_ns; }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};
inline constexpr TimeRange kAllTime{INT64_MIN, INT64_MAX};
inline TimeRange overlap(TimeRange a, TimeRange b) {
  return {std::max(a.start_ns, b.start_ns), std::min(a.end_ns, b.end_ns)};
}

struct ValueRange {
  int64_t min = INT64_MIN;
  int64_t max = INT64_MAX;  // not included, unless it is the largest number there is
  bool contains(int64_t value) const { return value >= min && (value < max || max == INT64_MAX); }
};

// Of values per second.
struct RateRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();  // not included
  bool contains(double rate) const { return rate >= min && rate < max; }
};

// Labels that every series has, made from its type, as Pyroscope names them. `service_name` is the
// user's; a profile without one is of "unknown_service".
inline constexpr std::string_view kServiceLabel = "service_name";
inline constexpr std::string_view kTypeLabel = "__profile_type__";
// Also: __name__, __type__, __unit__, __period_type__, __period_unit__, __service_name__.

struct SeriesInfo {
  Labels labels;  // with the ones above
  int64_t first_ns = 0;
  int64_t last_ns = 0;
};

// Which samples of a profile are meant. Needs what is stored beside the plain weights, so an answer
// costs a look at every profile. It chooses samples, not profiles: those without a sample that is
// meant still count, in averages and in the number of profiles.
struct SampleFilter {
  std::vector<std::array<uint8_t, 16>> trace_ids;  // any of them
  std::vector<std::array<uint8_t, 8>> span_ids;    // any of them
  Selector labels;  // of samples; all of them. A number is matched as decimal text
  // Of a series and its samples together, for clients that know one kind of labels: each matcher is
  // held against the label of the series if that has one, else against the sample's. A series that
  // fails is left out, with its profiles.
  Selector either;
  std::optional<TimeRange> times;  // of samples; one without a time is not meant
  bool empty() const {
    return trace_ids.empty() && span_ids.empty() && labels.empty() && either.empty() &&
           !times.has_value();
  }
};

// What a query may take. Over it: kLimit, with what to narrow.
struct QueryBudget {
  uint64_t bytes = uint64_t{256} << 20;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

struct SelectRequest {
  ProfileType type;
  Selector selector;
  TimeRange range;
  std::vector<std::string> group_by;  // names of series labels; one selection per combination
  SampleFilter samples;
  std::vector<std::string> profile_ids;  // 32 hex digits each; empty = all
  // Only profiles whose total, of all samples, lies in it. Costs a look at every profile.
  std::optional<ValueRange> totals;
  // A region of a heat map: only profiles whose value per second (time_spread.h), of all samples,
  // lies in it. They are spread over the time that they cover: those that reach into the range count
  // with the part that falls into it, wherever they start. Weights of single stacks are rounded so
  // that their sum is the part of the profile's total. Nothing is found of instant types, nor of
  // profiles without a duration. Costs a look at every profile.
  std::optional<RateRange> rates;
  QueryBudget budget;
};

struct TotalsRequest {
  ProfileType type;
  Selector selector;
  TimeRange range;
  int64_t step_ns = 0;  // buckets [start + k·step, start + (k+1)·step)
  std::vector<std::string> group_by;
  // Names that a series lacks are looked up among the labels of its samples, each of which then
  // counts for a group of its own. Costs a look at every profile. A group has a point where it has
  // a sample; its profiles are all of the series.
  bool group_samples = false;
  // What counts of each profile; either costs a look at every profile. A profile of which nothing
  // counts is still one of its bucket's.
  SampleFilter samples;
  // By stack of a service's tree, whether it counts; asked once for each service. None: all do.
  std::function<std::vector<uint8_t>(const StackTree&)> stacks;
  // A profile counts in the step that it starts in. Otherwise, for cumulative types, it is spread
  // over the time that it covers (time_spread.h): those that reach into the range from before it
  // count in part, as do those that reach beyond its end.
  bool by_start = false;
  QueryBudget budget;

  bool spreads() const { return !by_start && type.temporality() == Temporality::kCumulative; }
  bool counts_all() const { return samples.empty() && !stacks && !group_samples; }
};

struct TotalsPoint {
  int64_t time_ns = 0;     // where the bucket starts
  int64_t value = 0;       // cumulative: the sum; instant: averages of series, added up
  int64_t sum = 0;         // of all profiles' totals, or their parts, whatever the type
  uint64_t profiles = 0;   // that start in it
  int64_t covered_ns = 0;  // of the bucket: what some profile of the group covers
  friend bool operator==(const TotalsPoint&, const TotalsPoint&) = default;
};
struct TotalsSeries {
  Labels group;
  std::vector<TotalsPoint> points;  // buckets that no profile counts in are absent
};

// One stored profile, or one span of one: for heat maps and exemplars.
struct ProfilePoint {
  std::string profile_id;  // 32 hex digits
  Labels labels;           // of its series
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  int64_t value = 0;
  int64_t marked = 0;                  // the part of it in stacks that the request marks
  std::array<uint8_t, 16> trace_id{};  // of spans only
  std::array<uint8_t, 8> span_id{};
};
struct PointsRequest {
  ProfileType type;
  Selector selector;
  TimeRange range;
  bool by_span = false;      // one for each trace and span of a profile; none without a span id
  bool overlapping = false;  // also profiles that start before the range and reach into it
  SampleFilter samples;      // what counts; a profile of which nothing does is not one
  size_t limit = 1'000'000;  // kLimit beyond
  // By stack of a service's tree, whether it counts for ProfilePoint::marked; asked once for each
  // service. Costs a look at every profile.
  std::function<std::vector<uint8_t>(const StackTree&)> marks;
  QueryBudget budget;
};

// Samples with all that is kept of them: for exports, heat maps by time, labels of samples. The
// batch has one profile per series, in the order of their labels, and times where they were sent.
struct SamplesRequest {
  SelectRequest select;
  bool keep_labels = true;
  bool keep_links = true;
  bool keep_times = false;
};

// What samples are labelled with, as far as it names something: texts, and numbers that are ids
// (pid), not what was measured (bytes).
struct SampleLabelsRequest {
  Selector selector;  // of series: the labels are those of samples of their services
  TimeRange range;
  Selector samples;  // that the labels of a sample must match
  std::vector<std::string> names;
  size_t limit = 100'000;  // sets of one service; kLimit beyond
  QueryBudget budget;
};
struct SampleLabelSets {
  std::string service;
  std::vector<Labels> sets;  // each once, in order, with the labels that were asked for; none empty
};

struct WriteOptions {
  // Waits until the data would survive a power cut. Otherwise `flush()` says when it would.
  bool durable = true;
  int64_t now_ns = 0;  // for limits of retention; 0 = the clock
  // By profile of the batch: what it is a piece of (covered_time.h). Those beyond are whole.
  std::vector<PieceOrigin> piece_of;

  PieceOrigin origin_of(size_t profile) const {
    return profile < piece_of.size() ? piece_of[profile] : 0;
  }
};
struct WriteReceipt {
  uint64_t profiles = 0;    // written: one for each profile and sample type
  uint64_t samples = 0;     // stack and value pairs
  uint64_t duplicates = 0;  // were there already, bit by bit: not written again
  uint64_t expired = 0;     // older than retention keeps: dropped
  uint64_t new_series = 0;
  uint64_t new_stacks = 0;
};

struct RetentionRule {
  std::string service;  // empty = of every service without a rule of its own
  int64_t keep_ns = 0;  // 0 = for ever
};
struct RetentionPolicy {
  std::vector<RetentionRule> rules;
  uint64_t max_bytes = 0;  // of the whole store; the oldest hours of all go first. 0 = no bound
};

struct EngineStats {
  uint64_t disk_bytes = 0;
  uint64_t memory_bytes = 0;
  uint64_t series = 0;
  uint64_t stacks = 0;
  uint64_t nodes = 0;
  uint64_t pending_rollups = 0;
  int64_t oldest_ns = 0;  // of all profiles; 0 = there are none
  int64_t newest_ns = 0;
  // Name and value of whatever else the engine counts, for /metrics: snake_case, unit at the end.
  std::vector<std::pair<std::string, double>> details;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Profiles of the batch become series: one for each sample type, with the strings of `resource`
  // as labels. Samples that are alike in stack, labels, link and time are added up; those whose
  // value is 0 are not kept. All or nothing. A profile that is there already (same series, times
  // and content) is not written again, so that a client may send it once more. kUnavailable when
  // the disk is full or the store cannot take more at the moment.
  virtual Result<WriteReceipt> write(std::string_view tenant, const ProfileBatch& batch,
                                     const WriteOptions& options) = 0;

  // Of series that have a profile in the range, give or take an hour on both sides (an index by
  // profile would cost more than the data).
  virtual Result<std::vector<SeriesInfo>> series(std::string_view tenant, const Selector& selector,
                                                 TimeRange range) = 0;
  virtual Result<std::vector<std::string>> label_names(std::string_view tenant,
                                                       const Selector& selector,
                                                       TimeRange range) = 0;
  // In order. `prefix` and `limit` bound what is listed; limit 0 = all.
  virtual Result<std::vector<std::string>> label_values(std::string_view tenant,
                                                        std::string_view name,
                                                        const Selector& selector, TimeRange range,
                                                        std::string_view prefix, size_t limit) = 0;

  // Labels of samples of services that have a matching series. They are kept by service and without
  // a time: an answer also has those of other types, and of profiles before or after the range.
  virtual Result<std::vector<std::string>> sample_label_names(std::string_view tenant,
                                                              const Selector& selector,
                                                              TimeRange range) = 0;
  // In the order of services; none without a set.
  virtual Result<std::vector<SampleLabelSets>> sample_label_sets(
      std::string_view tenant, const SampleLabelsRequest& request) = 0;

  // Without group_by: exactly one selection, empty when there is nothing.
  virtual Result<std::vector<Selection>> select(std::string_view tenant,
                                                const SelectRequest& request) = 0;
  virtual Result<std::vector<TotalsSeries>> totals(std::string_view tenant,
                                                   const TotalsRequest& request) = 0;
  virtual Result<std::vector<ProfilePoint>> points(std::string_view tenant,
                                                   const PointsRequest& request) = 0;
  virtual Result<ProfileBatch> samples(std::string_view tenant, const SamplesRequest& request) = 0;

  // Deletes the profiles of matching series that start in the range; returns how many series lost
  // some. Nothing that was deleted is seen after the return.
  virtual Result<uint64_t> remove(std::string_view tenant, const Selector& selector,
                                  TimeRange range) = 0;
  // All that wrote something or have a policy, in order; also those that nobody asks for any more.
  virtual std::vector<std::string> tenants() = 0;
  // Applies the policy now; it stays in force for later writes.
  virtual Status set_retention(std::string_view tenant, const RetentionPolicy& policy) = 0;
  virtual Status apply_retention(int64_t now_ns) = 0;
  // Does what background work is due (roll-ups) and returns when all of it is done.
  virtual Status maintain() = 0;
  virtual Status flush() = 0;

  // A consistent copy in a new or earlier backup directory, while writes go on.
  virtual Status backup(const std::string& directory) = 0;
  virtual EngineStats stats() = 0;
  // Why the engine cannot accept writes before the process is started again; empty when it can.
  // Cheap: health checks ask.
  virtual std::string needs_restart() const { return {}; }
  virtual EngineStats tenant_stats(std::string_view tenant) = 0;
};

}  // namespace vesta
