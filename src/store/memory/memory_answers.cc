#include "store/memory/memory_answers.h"

#include <algorithm>
#include <set>

#include "profile/carried_rounding.h"
#include "profile/dictionary_builder.h"
#include "store/query_cost.h"
#include "store/sample_labels.h"
#include "store/series_labels.h"
#include "store/stack_dictionary.h"
#include "store/time_spread.h"
#include "store/totals_groups.h"

namespace vesta::memory {
namespace {

std::vector<ChosenSeries> choose(const Tenant& tenant, const ProfileType& type,
                                 const Selector& selector, TimeRange range,
                                 const SampleFilter& samples, const std::vector<std::string>& ids,
                                 const std::optional<ValueRange>& totals) {
  std::vector<ChosenSeries> chosen;
  if (range.empty()) return chosen;
  for (const auto& [labels, series] : tenant.series) {
    if (series.type != type || !matches(selector, labels)) continue;
    if (!left_to_samples(samples.either, labels)) continue;
    ChosenSeries found{&labels, &series, tenant.services.at(series.service).get(), {}};
    for (auto at = series.profiles.lower_bound({range.start_ns, ""});
         at != series.profiles.end() && at->first.first < range.end_ns; ++at) {
      const std::string& id = at->first.second;
      if (totals && !totals->contains(at->second.total)) continue;
      if (ids.empty() || std::ranges::find(ids, id) != ids.end())
        found.profiles.emplace_back(&id, &at->second);
    }
    if (!found.profiles.empty()) chosen.push_back(std::move(found));
  }
  return chosen;
}

// `range`, and as far before it as profiles may reach.
TimeRange with_look_back(TimeRange range) {
  if (!range.empty()) range.start_ns = saturating_subtract(range.start_ns, kMostSpreadNs);
  return range;
}

bool begin(ProfileCut& cut, const StoredProfile& profile) {
  return cut.begin(profile.time_ns, profile.duration_ns, profile.total);
}

std::vector<ChosenSeries> choose(const Tenant& tenant, const SelectRequest& request) {
  ProfileCut cut(request);
  const TimeRange reach = cut.cuts() ? with_look_back(request.range) : request.range;
  auto chosen = choose(tenant, request.type, request.selector, reach, request.samples,
                       request.profile_ids, request.totals);
  for (ChosenSeries& series : chosen)
    std::erase_if(series.profiles, [&](const auto& one) { return !begin(cut, *one.second); });
  std::erase_if(chosen, [](const ChosenSeries& series) { return series.profiles.empty(); });
  return chosen;
}

Labels text_labels(const SampleLabels& labels) {
  Labels texts;
  for (const SampleLabel& label : labels) {
    texts.emplace_back(
        label.key, label.kind == LabelKind::kString ? label.text : std::to_string(label.number));
  }
  return texts;
}

// Which samples of chosen series are meant. Labels are looked at once for each set of them.
class SampleTest {
 public:
  explicit SampleTest(const SampleFilter& filter) : filter_(filter) {}

  // Samples that follow are of this series.
  void use(const ChosenSeries& chosen) {
    if (!looks_at_labels()) return;
    const std::vector<bool> asked =
        left_to_samples(filter_.either, *chosen.labels).value_or(std::vector<bool>());
    if (service_ == chosen.service && asked == asked_) return;
    service_ = chosen.service;
    asked_ = asked;
    left_.clear();
    for (size_t i = 0; i < asked.size(); ++i)
      if (asked[i]) left_.push_back(filter_.either[i]);
    verdicts_.assign(service_->label_sets.size(), Verdict::kUnknown);
  }
  bool passes(const SampleKey& sample) {
    if (filter_.times && (sample.time_ns == 0 || !filter_.times->contains(sample.time_ns)))
      return false;
    return any_of(filter_.trace_ids, sample.link.trace_id) &&
           any_of(filter_.span_ids, sample.link.span_id) && has_labels(sample.labels);
  }

 private:
  enum class Verdict : uint8_t { kUnknown, kNo, kYes };

  template <class Wanted, class Id>
  static bool any_of(const Wanted& wanted, const Id& id) {
    return wanted.empty() || std::ranges::find(wanted, id) != wanted.end();
  }
  bool looks_at_labels() const { return !filter_.labels.empty() || !filter_.either.empty(); }
  bool has_labels(uint32_t set) {
    if (!looks_at_labels()) return true;
    Verdict& verdict = verdicts_[set];
    if (verdict == Verdict::kUnknown) {
      const Labels texts = text_labels(service_->label_sets[set]);
      const bool passes = matches(filter_.labels, texts) && matches(left_, texts);
      verdict = passes ? Verdict::kYes : Verdict::kNo;
    }
    return verdict == Verdict::kYes;
  }

  const SampleFilter& filter_;
  const Service* service_ = nullptr;
  std::vector<bool> asked_;        // of filter_.either
  Selector left_;                  // those matchers
  std::vector<Verdict> verdicts_;  // by label set of the service
};

bool is_averaged(const ChosenSeries& chosen) {
  return chosen.series->type.temporality() == Temporality::kInstant && chosen.profiles.size() > 1;
}

// Adds the profiles of a series up, or averages them, in the order of their keys. `make_key` says
// which samples become one.
template <class MakeKey>
std::vector<StoredSample> sum_of(const ChosenSeries& chosen, SampleTest& test, ProfileCut& cut,
                                 MakeKey&& make_key) {
  std::vector<StoredSample> sums;
  test.use(chosen);
  size_t most = 0;
  for (const auto& [id, profile] : chosen.profiles) most += profile->samples.size();
  sums.reserve(most);
  for (const auto& [id, profile] : chosen.profiles) {
    begin(cut, *profile);
    for (const StoredSample& sample : profile->samples)
      if (test.passes(sample.key)) sums.push_back({make_key(sample.key), cut(sample.value)});
  }
  add_up_alike(sums);
  if (is_averaged(chosen)) {
    CarriedDivision divide(static_cast<int64_t>(chosen.profiles.size()));
    for (StoredSample& sample : sums) sample.value = divide(sample.value);
  }
  return sums;
}

struct GroupSum {
  std::map<std::string, std::vector<int64_t>> weights;  // by service
  std::map<std::string, uint64_t> losses;
  Selection selection;
};

void add_header(Selection& selection, std::map<std::string, uint64_t>& losses,
                const StoredProfile& profile, ProfileCut& cut) {
  begin(cut, profile);
  const int64_t time_ns = cut.time_ns();
  const bool first = selection.profiles == 0;
  ++selection.profiles;
  selection.period = std::max(selection.period, profile.period);
  selection.first_ns = first ? time_ns : std::min(selection.first_ns, time_ns);
  selection.last_ns = first ? time_ns : std::max(selection.last_ns, time_ns);
  selection.covered.add({profile.origin, time_ns, cut.duration_ns()});
  for (const auto& [reason, count] : profile.losses) losses[reason] += count;
}

// By labels of samples, or all together.
std::map<Labels, int64_t> counted_totals(const ChosenSeries& chosen, const StoredProfile& profile,
                                         const TotalsRequest& request, SampleTest& test,
                                         const std::vector<uint8_t>& stacks) {
  if (request.counts_all()) return {{{}, profile.total}};
  std::map<Labels, int64_t> totals;
  if (!request.group_samples) totals[{}];
  for (const auto& [sample, value] : profile.samples) {
    if (request.stacks &&
        (sample.stack.index() >= stacks.size() || stacks[sample.stack.index()] == 0))
      continue;
    if (!test.passes(sample)) continue;
    Labels own;
    if (request.group_samples) {
      own = own_labels(text_labels(chosen.service->label_sets[sample.labels]), *chosen.labels,
                       request.group_by);
    }
    int64_t& total = totals[own];
    total = saturating_add(total, value);
  }
  return totals;
}

// The label sets of a service in the order of the labels themselves, which all engines have.
class RankedLabels {
 public:
  RankedLabels(const LabelSets& sets, DictionaryBuilder& builder)
      : sets_(sets), builder_(builder), ranks_(sets.size()) {
    by_rank_.reserve(sets.size());
    for (const auto& [labels, number] : sets.in_order()) {
      ranks_[number] = static_cast<uint32_t>(by_rank_.size());
      by_rank_.push_back({number, {}, false});
    }
  }
  uint32_t rank(uint32_t number) const { return ranks_[number]; }
  LabelSetId at_rank(uint32_t rank) {
    Ranked& ranked = by_rank_[rank];
    if (ranked.is_added) return ranked.id;
    std::vector<Label> labels;
    for (const SampleLabel& label : sets_[ranked.number]) {
      labels.push_back(label.kind == LabelKind::kString
                           ? builder_.text_label(label.key, label.text)
                           : builder_.number_label(label.key, label.number, label.unit));
    }
    ranked.id = builder_.label_set(labels);
    ranked.is_added = true;
    return ranked.id;
  }

 private:
  struct Ranked {
    uint32_t number = 0;
    LabelSetId id;
    bool is_added = false;
  };
  const LabelSets& sets_;
  DictionaryBuilder& builder_;
  std::vector<uint32_t> ranks_;  // by number
  std::vector<Ranked> by_rank_;
};

// Stacks and labels of a service on their way into a batch.
struct ServiceExport {
  ServiceExport(const Service& service, DictionaryBuilder& builder)
      : stacks(service.tree, builder), labels(service.label_sets, builder) {}
  StackDictionary stacks;
  RankedLabels labels;
};

uint64_t sample_count(const Service& service, const StoredSeries& series) {
  if (series.profiles.size() == 1) return series.profiles.begin()->second.samples.size();
  ChosenSeries all{nullptr, &series, &service, {}};
  for (const auto& [key, profile] : series.profiles)
    all.profiles.emplace_back(&key.second, &profile);
  const SelectRequest everything;
  SampleTest test(everything.samples);
  ProfileCut cut(everything);
  const auto sums = sum_of(all, test, cut, [](const SampleKey& key) { return key; });
  return static_cast<uint64_t>(
      std::ranges::count_if(sums, [](const StoredSample& sample) { return sample.value != 0; }));
}

}  // namespace

void add_up_alike(std::vector<StoredSample>& samples) {
  if (!std::ranges::is_sorted(samples, {}, &StoredSample::key))
    std::ranges::stable_sort(samples, {}, &StoredSample::key);
  size_t kept = 0;
  for (const StoredSample& sample : samples) {
    if (kept != 0 && samples[kept - 1].key == sample.key) {
      samples[kept - 1].value = saturating_add(samples[kept - 1].value, sample.value);
    } else {
      samples[kept++] = sample;
    }
  }
  samples.resize(kept);
  std::erase_if(samples, [](const StoredSample& sample) { return sample.value == 0; });
}

Result<std::vector<Selection>> select(const Tenant& tenant, const SelectRequest& request) {
  QueryCost cost(request.budget);
  std::map<Labels, GroupSum> groups;
  SampleTest test(request.samples);
  ProfileCut cut(request);
  if (request.group_by.empty()) groups[{}];
  for (const ChosenSeries& chosen : choose(tenant, request)) {
    GroupSum& group = groups[group_labels(*chosen.labels, request.group_by)];
    std::vector<int64_t>& weights = group.weights[chosen.series->service];
    const auto add = [&](StackNumber stack, int64_t value) -> Status {
      const size_t at = stack.index();
      if (weights.size() <= at) {
        VESTA_TRY(cost.add((at + 1 - weights.size()) * sizeof(int64_t)));
        weights.resize(at + 1);
      }
      weights[at] = saturating_add(weights[at], value);
      return {};
    };
    if (is_averaged(chosen)) {
      for (const auto& [key, value] : sum_of(chosen, test, cut, [](const SampleKey& key) {
             return SampleKey{key.stack, 0, {}, 0};
           }))
        VESTA_TRY(add(key.stack, value));
    } else {
      test.use(chosen);
      for (const auto& [id, profile] : chosen.profiles) {
        begin(cut, *profile);
        for (const auto& [key, value] : profile->samples)
          if (test.passes(key)) VESTA_TRY(add(key.stack, cut(value)));
      }
    }
    for (const auto& [id, profile] : chosen.profiles)
      add_header(group.selection, group.losses, *profile, cut);
  }
  VESTA_TRY(cost.add(0));
  std::vector<Selection> answer;
  for (auto& [labels, group] : groups) {
    Selection& selection = group.selection;
    selection.type = request.type;
    selection.group = labels;
    for (auto& [service, weights] : group.weights) {
      if (std::ranges::all_of(weights, [](int64_t weight) { return weight == 0; })) continue;
      for (const int64_t weight : weights)
        selection.total = saturating_add(selection.total, weight);
      selection.services.push_back(
          {service, tenant.services.at(service)->tree, std::move(weights)});
    }
    for (const auto& [reason, count] : group.losses) selection.losses.push_back({reason, count});
    answer.push_back(std::move(selection));
  }
  return answer;
}

Result<std::vector<TotalsSeries>> totals(const Tenant& tenant, const TotalsRequest& request) {
  if (request.step_ns <= 0) {
    return Error{ErrorCode::kUsage, "step must be greater than zero",
                 "use nanoseconds, for example 15000000000 for 15 s"};
  }
  QueryCost cost(request.budget);
  SampleTest test(request.samples);
  const StepGrid grid(request.range, request.step_ns);
  TotalsGroups groups(request, cost);
  const TimeRange reach = with_look_back(request.range);
  for (const ChosenSeries& chosen :
       choose(tenant, request.type, request.selector, reach, request.samples, {}, {})) {
    std::map<Labels, StepSums> sums;        // by labels of samples
    std::map<uint64_t, uint64_t> profiles;  // by step
    TimeCover cover;
    std::vector<uint8_t> stacks;
    if (request.stacks) stacks = request.stacks(chosen.service->tree);
    test.use(chosen);
    for (const auto& [id, profile] : chosen.profiles) {
      const bool starts_here = request.range.contains(profile->time_ns);
      if (starts_here) ++profiles[grid.number_of(profile->time_ns)];
      if (!starts_here && !request.spreads()) continue;
      for (const auto& [own, total] : counted_totals(chosen, *profile, request, test, stacks)) {
        StepSums& steps = sums[own];
        VESTA_TRY(cost.step());
        grid.spread(profile->time_ns, request.spreads() ? profile->duration_ns : 0, total,
                    [&](uint64_t number, int64_t part) {
                      int64_t& sum = steps[number].sum;
                      sum = saturating_add(sum, part);
                    });
      }
    }
    for (const auto& [id, profile] : chosen.profiles)
      cover.add(overlap(spread_range(profile->time_ns, profile->duration_ns), request.range));
    const Labels labels = group_labels(*chosen.labels, request.group_by);
    for (auto& [own, steps] : sums) {
      for (auto& [number, sum] : steps) {
        if (const auto found = profiles.find(number); found != profiles.end())
          sum.profiles = found->second;
      }
      VESTA_TRY(groups.add(joined(labels, own), steps, cover));
    }
  }
  VESTA_TRY(cost.add(0));
  return groups.finish();
}

Result<std::vector<ProfilePoint>> points(const Tenant& tenant, const PointsRequest& request) {
  QueryCost cost(request.budget);
  std::vector<ProfilePoint> answer;
  struct Value {
    int64_t value = 0;
    int64_t marked = 0;
  };
  SampleTest test(request.samples);
  std::map<std::string, std::vector<uint8_t>> marks;  // by service
  const auto add = [&](const ChosenSeries& chosen, const std::string& id,
                       const StoredProfile& profile, const Value& value,
                       const Link& link) -> Status {
    if (answer.size() == request.limit) {
      return Error{ErrorCode::kLimit,
                   "more than " + std::to_string(request.limit) + " profiles match",
                   "narrow the selector or the time range"};
    }
    answer.push_back({id, *chosen.labels, profile.time_ns, profile.duration_ns, value.value,
                      value.marked, link.trace_id, link.span_id});
    return cost.add(sizeof(ProfilePoint));
  };
  const TimeRange reach = request.overlapping ? with_look_back(request.range) : request.range;
  for (const ChosenSeries& chosen :
       choose(tenant, request.type, request.selector, reach, request.samples, {}, {})) {
    test.use(chosen);
    const std::string& service = chosen.series->service;
    const auto [marked, is_new] = marks.try_emplace(service);
    if (is_new && request.marks) marked->second = request.marks(tenant.services.at(service)->tree);
    const std::vector<uint8_t>& is_marked = marked->second;
    for (const auto& [id, profile] : chosen.profiles) {
      if (!reaches_into(request.range, profile->time_ns, profile->duration_ns)) continue;
      if (!request.by_span && !request.marks && request.samples.empty()) {
        VESTA_TRY(add(chosen, *id, *profile, {profile->total, 0}, {}));
        continue;
      }
      std::map<Link, Value> spans;
      for (const auto& [sample, value] : profile->samples) {
        if (request.by_span && sample.link.span_id == Link{}.span_id) continue;
        if (!test.passes(sample)) continue;
        Value& sum = spans[request.by_span ? sample.link : Link{}];
        sum.value = saturating_add(sum.value, value);
        if (sample.stack.index() < is_marked.size() && is_marked[sample.stack.index()] != 0)
          sum.marked = saturating_add(sum.marked, value);
      }
      if (!request.by_span && request.samples.empty()) {
        VESTA_TRY(add(chosen, *id, *profile, {profile->total, spans[Link{}].marked}, {}));
        continue;
      }
      for (const auto& [link, value] : spans) VESTA_TRY(add(chosen, *id, *profile, value, link));
    }
  }
  VESTA_TRY(cost.add(0));
  std::ranges::stable_sort(answer, {}, &ProfilePoint::time_ns);
  return answer;
}

Result<ProfileBatch> samples(const Tenant& tenant, const SamplesRequest& request) {
  const SelectRequest& select = request.select;
  QueryCost cost(select.budget);
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  SampleTest test(select.samples);
  std::map<const Service*, ServiceExport> exports;
  ProfileCut cut(select);
  for (const ChosenSeries& chosen : choose(tenant, select)) {
    ServiceExport& to = exports.try_emplace(chosen.service, *chosen.service, builder).first->second;
    Profile profile;
    profile.name = builder.string(select.type.name);
    std::vector<Label> resource;
    for (const auto& [name, value] : *chosen.labels)
      if (!is_system_label(name)) resource.push_back(builder.text_label(name, value));
    profile.resource = builder.label_set(resource);
    profile.sample_types.push_back({builder.string(select.type.sample_type),
                                    builder.string(select.type.sample_unit),
                                    select.type.temporality()});
    profile.period_type = {builder.string(select.type.period_type),
                           builder.string(select.type.period_unit),
                           temporality_of(select.type.period_type)};
    Selection header;
    std::map<std::string, uint64_t> losses;
    for (const auto& [id, stored] : chosen.profiles) add_header(header, losses, *stored, cut);
    profile.period = header.period;
    profile.time_ns = header.first_ns;
    profile.duration_ns = header.covered.duration_ns();
    for (const auto& [reason, count] : losses) profile.add_loss(builder.string(reason), count);
    // Rounding depends on the order.
    const auto kept = [&](SampleKey sample) {
      sample.labels = request.keep_labels ? to.labels.rank(sample.labels) : 0;
      if (!request.keep_links) sample.link = {};
      if (!request.keep_times) sample.time_ns = 0;
      return sample;
    };
    for (const auto& [sample, value] : sum_of(chosen, test, cut, kept)) {
      if (value == 0) continue;
      VESTA_TRY(cost.add(sizeof(StoredSample)));
      profile.add_sample(to.stacks.stack(sample.stack), std::span<const int64_t>(&value, 1),
                         to.labels.at_rank(sample.labels), builder.link(sample.link),
                         sample.time_ns);
    }
    batch.profiles.push_back(std::move(profile));
  }
  VESTA_TRY(cost.add(0));
  return batch;
}

std::vector<std::string> sample_label_names(const Tenant& tenant,
                                            const std::set<std::string>& services) {
  std::set<std::string> names;
  for (const std::string& service : services) {
    for (const auto& [labels, number] : tenant.services.at(service)->label_sets.in_order()) {
      for (const SampleLabel& label : labels)
        if (names_something(label.kind, label.key)) names.insert(label.key);
    }
  }
  return {names.begin(), names.end()};
}

Result<std::vector<SampleLabelSets>> sample_label_sets(const Tenant& tenant,
                                                       const std::set<std::string>& services,
                                                       const SampleLabelsRequest& request) {
  std::vector<SampleLabelSets> answer;
  for (const std::string& service : services) {
    std::set<Labels> sets;
    for (const auto& [labels, number] : tenant.services.at(service)->label_sets.in_order()) {
      if (!matches(request.samples, text_labels(labels))) continue;
      SampleLabels wanted = labels;
      std::erase_if(
          wanted, [](const SampleLabel& label) { return !names_something(label.kind, label.key); });
      Labels set = own_labels(text_labels(wanted), {}, request.names);
      if (!set.empty()) sets.insert(std::move(set));
    }
    if (sets.size() > request.limit) {
      return Error{
          ErrorCode::kLimit,
          "samples have more than " + std::to_string(request.limit) + " values of these labels",
          "narrow the selector"};
    }
    if (!sets.empty()) answer.push_back({service, {sets.begin(), sets.end()}});
  }
  return answer;
}

MemoryContents contents(const Tenant& tenant) {
  MemoryContents found;
  int64_t first_ns = INT64_MAX;
  int64_t last_ns = INT64_MIN;
  const auto include = [&](int64_t time_ns) {
    first_ns = std::min(first_ns, time_ns);
    last_ns = std::max(last_ns, time_ns);
  };
  std::set<std::string, std::less<>> names;
  for (const auto& [labels, series] : tenant.series) {
    for (const auto& [name, value] : labels)
      if (!is_system_label(name)) names.insert(name);
    found.samples[series.type] += sample_count(*tenant.services.at(series.service), series);
    for (const auto& [key, profile] : series.profiles) {
      include(profile.time_ns);
      // The end itself is outside, but a profile is there even when it took no time.
      if (profile.duration_ns > 0)
        include(saturating_add(profile.time_ns, profile.duration_ns - 1));
      for (const StoredSample& sample : profile.samples)
        if (sample.key.time_ns != 0) include(sample.key.time_ns);
    }
  }
  for (const auto& [name, service] : tenant.services) {
    for (const auto& [labels, number] : service->label_sets.in_order())
      for (const SampleLabel& label : labels) names.insert(label.key);
  }
  if (first_ns <= last_ns) found.range = {first_ns, saturating_add(last_ns, 1)};
  found.labels.assign(names.begin(), names.end());
  return found;
}

}  // namespace vesta::memory
