#include "store/memory/memory_answers.h"

#include <algorithm>
#include <set>

#include "profile/carried_rounding.h"
#include "profile/dictionary_builder.h"
#include "store/query_cost.h"
#include "store/series_labels.h"
#include "store/stack_dictionary.h"

namespace vesta::memory {
namespace {

std::vector<ChosenSeries> choose(const Tenant& tenant, const ProfileType& type,
                                 const Selector& selector, TimeRange range,
                                 const std::vector<std::string>& ids,
                                 const std::optional<ValueRange>& totals) {
  std::vector<ChosenSeries> chosen;
  if (range.empty()) return chosen;
  for (const auto& [labels, series] : tenant.series) {
    if (series.type != type || !matches(selector, labels)) continue;
    ChosenSeries found{&labels, &series, {}};
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

Labels group_of(const Labels& labels, const std::vector<std::string>& names) {
  Labels group;
  for (const std::string& name : std::set(names.begin(), names.end())) {
    if (const std::string_view value = label_value(labels, name); !value.empty())
      group.emplace_back(name, value);
  }
  return group;
}

Labels text_labels(const SampleLabels& labels) {
  Labels texts;
  for (const SampleLabel& label : labels) {
    texts.emplace_back(
        label.key, label.kind == LabelKind::kString ? label.text : std::to_string(label.number));
  }
  return texts;
}

bool passes(const SampleFilter& filter, const SampleKey& sample) {
  const auto any_of = [](const auto& wanted, const auto& id) {
    return wanted.empty() || std::ranges::find(wanted, id) != wanted.end();
  };
  if (filter.times && (sample.time_ns == 0 || !filter.times->contains(sample.time_ns)))
    return false;
  return any_of(filter.trace_ids, sample.link.trace_id) &&
         any_of(filter.span_ids, sample.link.span_id) &&
         (filter.labels.empty() || matches(filter.labels, text_labels(sample.labels)));
}

int64_t average(int64_t sum, size_t count) {
  return CarriedDivision(static_cast<int64_t>(count))(sum);
}

// Adds the profiles of a series up, or averages them. `key` says which samples become one.
template <class Key, class MakeKey>
std::map<Key, int64_t> sum_of(const ChosenSeries& chosen, const SampleFilter& filter,
                              MakeKey&& make_key) {
  std::map<Key, int64_t> sums;
  for (const auto& [id, profile] : chosen.profiles) {
    for (const auto& [sample, value] : profile->samples) {
      if (!passes(filter, sample)) continue;
      int64_t& sum = sums[make_key(sample)];
      sum = saturating_add(sum, value);
    }
  }
  if (chosen.series->type.temporality() == Temporality::kInstant) {
    CarriedDivision divide(static_cast<int64_t>(chosen.profiles.size()));
    for (auto& [key, value] : sums) value = divide(value);
  }
  return sums;
}

struct GroupSum {
  std::map<std::string, std::vector<int64_t>> weights;  // by service
  std::map<std::string, uint64_t> losses;
  Selection selection;
};

void add_header(Selection& selection, std::map<std::string, uint64_t>& losses,
                const StoredProfile& profile) {
  const bool first = selection.profiles == 0;
  ++selection.profiles;
  selection.period = std::max(selection.period, profile.period);
  selection.first_ns = first ? profile.time_ns : std::min(selection.first_ns, profile.time_ns);
  selection.last_ns = first ? profile.time_ns : std::max(selection.last_ns, profile.time_ns);
  selection.duration_ns = saturating_add(selection.duration_ns, profile.duration_ns);
  for (const auto& [reason, count] : profile.losses) losses[reason] += count;
}

int64_t counted_total(const StoredProfile& profile, const TotalsRequest& request,
                      const std::vector<uint8_t>& stacks) {
  if (request.counts_all()) return profile.total;
  int64_t total = 0;
  for (const auto& [sample, value] : profile.samples) {
    if (request.stacks && (sample.stack >= stacks.size() || stacks[sample.stack] == 0)) continue;
    if (passes(request.samples, sample)) total = saturating_add(total, value);
  }
  return total;
}

}  // namespace

Result<std::vector<Selection>> select(const Tenant& tenant, const SelectRequest& request) {
  QueryCost cost(request.budget);
  std::map<Labels, GroupSum> groups;
  if (request.group_by.empty()) groups[{}];
  for (const ChosenSeries& chosen : choose(tenant, request.type, request.selector, request.range,
                                           request.profile_ids, request.totals)) {
    GroupSum& group = groups[group_of(*chosen.labels, request.group_by)];
    std::vector<int64_t>& weights = group.weights[chosen.series->service];
    for (const auto& [stack, value] : sum_of<StackNumber>(
             chosen, request.samples, [](const SampleKey& sample) { return sample.stack; })) {
      if (weights.size() <= stack) {
        VESTA_TRY(cost.add((stack + 1 - weights.size()) * sizeof(int64_t)));
        weights.resize(stack + 1);
      }
      weights[stack] = saturating_add(weights[stack], value);
    }
    for (const auto& [id, profile] : chosen.profiles)
      add_header(group.selection, group.losses, *profile);
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
    return Error{ErrorCode::kUsage, "the step of a time series must be longer than nothing",
                 "give it in nanoseconds, as in 15000000000 for 15 s"};
  }
  QueryCost cost(request.budget);
  std::map<Labels, std::map<uint64_t, TotalsPoint>> groups;  // by number of the bucket
  for (const ChosenSeries& chosen :
       choose(tenant, request.type, request.selector, request.range, {}, {})) {
    std::map<uint64_t, TotalsPoint> buckets;
    std::vector<uint8_t> stacks;
    if (request.stacks) stacks = request.stacks(tenant.services.at(chosen.series->service)->tree);
    for (const auto& [id, profile] : chosen.profiles) {
      // The range may be wider than 63 bits.
      const uint64_t offset =
          static_cast<uint64_t>(profile->time_ns) - static_cast<uint64_t>(request.range.start_ns);
      TotalsPoint& point = buckets[offset / static_cast<uint64_t>(request.step_ns)];
      point.sum = saturating_add(point.sum, counted_total(*profile, request, stacks));
      ++point.profiles;
    }
    auto& group = groups[group_of(*chosen.labels, request.group_by)];
    for (const auto& [number, part] : buckets) {
      const auto [at, is_new] = group.try_emplace(number);
      if (is_new) VESTA_TRY(cost.add(sizeof(TotalsPoint)));
      TotalsPoint& point = at->second;
      const bool instant = request.type.temporality() == Temporality::kInstant;
      point.time_ns = static_cast<int64_t>(static_cast<uint64_t>(request.range.start_ns) +
                                           number * static_cast<uint64_t>(request.step_ns));
      point.value =
          saturating_add(point.value, instant ? average(part.sum, part.profiles) : part.sum);
      point.sum = saturating_add(point.sum, part.sum);
      point.profiles += part.profiles;
    }
  }
  VESTA_TRY(cost.add(0));
  std::vector<TotalsSeries> answer;
  for (const auto& [labels, points] : groups) {
    TotalsSeries series{labels, {}};
    for (const auto& [number, point] : points) series.points.push_back(point);
    answer.push_back(std::move(series));
  }
  return answer;
}

Result<std::vector<ProfilePoint>> points(const Tenant& tenant, const PointsRequest& request) {
  QueryCost cost(request.budget);
  std::vector<ProfilePoint> answer;
  struct Value {
    int64_t value = 0;
    int64_t marked = 0;
  };
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
  for (const ChosenSeries& chosen :
       choose(tenant, request.type, request.selector, request.range, {}, {})) {
    const std::string& service = chosen.series->service;
    const auto [marked, is_new] = marks.try_emplace(service);
    if (is_new && request.marks) marked->second = request.marks(tenant.services.at(service)->tree);
    const std::vector<uint8_t>& is_marked = marked->second;
    for (const auto& [id, profile] : chosen.profiles) {
      std::map<Link, Value> spans;
      for (const auto& [sample, value] : profile->samples) {
        if (request.by_span && sample.link.span_id == Link{}.span_id) continue;
        Value& sum = spans[request.by_span ? sample.link : Link{}];
        sum.value = saturating_add(sum.value, value);
        if (sample.stack < is_marked.size() && is_marked[sample.stack] != 0)
          sum.marked = saturating_add(sum.marked, value);
      }
      if (!request.by_span) {
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
  std::map<std::string, StackDictionary> stacks;  // by service
  for (const ChosenSeries& chosen : choose(tenant, select.type, select.selector, select.range,
                                           select.profile_ids, select.totals)) {
    StackDictionary& of_service =
        stacks
            .try_emplace(chosen.series->service, tenant.services.at(chosen.series->service)->tree,
                         builder)
            .first->second;
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
    for (const auto& [id, stored] : chosen.profiles) add_header(header, losses, *stored);
    profile.period = header.period;
    profile.time_ns = header.first_ns;
    profile.duration_ns = header.duration_ns;
    for (const auto& [reason, count] : losses) profile.add_loss(builder.string(reason), count);
    const auto kept = [&](SampleKey sample) {
      if (!request.keep_labels) sample.labels.clear();
      if (!request.keep_links) sample.link = {};
      if (!request.keep_times) sample.time_ns = 0;
      return sample;
    };
    for (const auto& [sample, value] : sum_of<SampleKey>(chosen, select.samples, kept)) {
      if (value == 0) continue;
      VESTA_TRY(cost.add(sizeof(SampleKey) + sizeof(value)));
      std::vector<Label> labels;
      for (const SampleLabel& label : sample.labels) {
        labels.push_back(label.kind == LabelKind::kString
                             ? builder.text_label(label.key, label.text)
                             : builder.number_label(label.key, label.number, label.unit));
      }
      profile.add_sample(of_service.stack(sample.stack), std::span<const int64_t>(&value, 1),
                         builder.label_set(labels), builder.link(sample.link), sample.time_ns);
    }
    batch.profiles.push_back(std::move(profile));
  }
  VESTA_TRY(cost.add(0));
  return batch;
}

}  // namespace vesta::memory
