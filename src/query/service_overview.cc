#include "query/service_overview.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/parallel.h"
#include "query/host_label.h"
#include "query/type_words.h"
#include "store/query_cost.h"

namespace vesta {
namespace {

uint64_t length_of(TimeRange range) {
  return static_cast<uint64_t>(range.end_ns) - static_cast<uint64_t>(range.start_ns);
}

// [start − length, start); empty where time has no room for it.
TimeRange range_before(TimeRange range) {
  const uint64_t room = static_cast<uint64_t>(range.start_ns) - static_cast<uint64_t>(INT64_MIN);
  if (length_of(range) > room) return {range.start_ns, range.start_ns};
  return {static_cast<int64_t>(static_cast<uint64_t>(range.start_ns) - length_of(range)),
          range.start_ns};
}

int64_t as_step(uint64_t length) {
  return static_cast<int64_t>(std::clamp<uint64_t>(length, 1, INT64_MAX));
}

// What the list of series knows about a service, of one type.
struct Presence {
  std::set<std::string> hosts;
  int64_t last_ns = INT64_MIN;
};
using PresenceByService = std::map<std::string, Presence, std::less<>>;
// By id of the type.
using PresenceByType = std::map<std::string, PresenceByService, std::less<>>;

Result<PresenceByType> presence(Engine& engine, std::string_view tenant,
                                const ServiceOverviewRequest& request) {
  VESTA_ASSIGN(const auto series, engine.series(tenant, request.selector, request.range));
  PresenceByType found;
  for (const SeriesInfo& info : series) {
    Presence& one = found[std::string(label_value(info.labels, kTypeLabel))]
                         [std::string(label_value(info.labels, kServiceLabel))];
    one.last_ns = std::max(one.last_ns, info.last_ns);
    // The index goes by hours.
    if (info.last_ns < request.range.start_ns || info.first_ns >= request.range.end_ns) continue;
    if (const std::string_view host = host_of(info.labels); !host.empty()) one.hosts.emplace(host);
  }
  return found;
}

class Totals {
 public:
  Totals(Engine& engine, std::string_view tenant, const ServiceOverviewRequest& request,
         const ProfileType& type)
      : engine_(engine), tenant_(tenant) {
    question_.type = type;
    question_.selector = request.selector;
    question_.group_by = {std::string(kServiceLabel)};
    question_.budget = request.budget;
  }

  Result<std::vector<TotalsSeries>> by_step(TimeRange range, int64_t step_ns) {
    question_.range = range;
    question_.step_ns = step_ns;
    return engine_.totals(tenant_, question_);
  }
  // Each service's value of the whole range, and how much of it is covered.
  struct Whole {
    int64_t value = 0;
    int64_t covered_ns = 0;
  };
  using WholeByService = std::map<std::string, Whole, std::less<>>;
  Result<WholeByService> of_whole(TimeRange range) {
    WholeByService values;
    if (range.empty()) return values;
    VESTA_ASSIGN(const auto series, by_step(range, as_step(length_of(range))));
    for (const TotalsSeries& one : series) {
      Whole& whole = values[std::string(label_value(one.group, kServiceLabel))];
      for (const TotalsPoint& point : one.points) {
        whole.value = saturating_add(whole.value, point.value);
        whole.covered_ns = saturating_add(whole.covered_ns, point.covered_ns);
      }
    }
    return values;
  }

 private:
  Engine& engine_;
  std::string_view tenant_;
  TotalsRequest question_;
};

Result<std::vector<ServiceRow>> rows_of(Engine& engine, std::string_view tenant,
                                        const ServiceOverviewRequest& request,
                                        const ProfileType& type, const ServiceOverview& frame) {
  Totals totals(engine, tenant, request, type);
  VESTA_ASSIGN(const auto series, totals.by_step(request.range, frame.step_ns));
  VESTA_ASSIGN(const auto before, totals.of_whole(frame.previous));
  const bool is_gauge = type.temporality() == Temporality::kInstant;
  // The average of a gauge is not that of its steps, which may hold few profiles or many.
  Totals::WholeByService averages;
  if (is_gauge) {
    VESTA_ASSIGN(averages, totals.of_whole(request.range));
  }
  const size_t steps =
      (std::max<uint64_t>(length_of(request.range), 1) - 1) / static_cast<uint64_t>(frame.step_ns) +
      1;
  std::vector<ServiceRow> rows;
  rows.reserve(series.size());
  for (const TotalsSeries& one : series) {
    ServiceRow& row = rows.emplace_back();
    row.service = label_value(one.group, kServiceLabel);
    row.values.resize(steps);
    for (const TotalsPoint& point : one.points) {
      const uint64_t offset =
          static_cast<uint64_t>(point.time_ns) - static_cast<uint64_t>(request.range.start_ns);
      const size_t step = offset / static_cast<uint64_t>(frame.step_ns);
      if (step < steps) row.values[step] = point.value;
      row.total = saturating_add(row.total, point.value);
      row.covered_ns = saturating_add(row.covered_ns, point.covered_ns);
      row.profiles += point.profiles;
    }
    if (const auto average = averages.find(row.service); average != averages.end())
      row.total = average->second.value;
    if (const auto was = before.find(row.service); was != before.end()) {
      row.previous_total = was->second.value;
      row.previous_covered_ns = was->second.covered_ns;
    }
  }
  std::ranges::stable_sort(rows, [](const ServiceRow& a, const ServiceRow& b) {
    return saturating_abs(a.total) > saturating_abs(b.total);
  });
  return rows;
}

// Of the types that count samples, and of those that come with one that does.
void count_samples(std::vector<TypeOverview>& types) {
  // By service, name of the profile and what it samples by.
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, uint64_t> counts;
  const auto key_of = [](const TypeOverview& type, const ServiceRow& row) {
    return Key{row.service, type.type.name, type.type.period_type};
  };
  for (const TypeOverview& type : types) {
    if (type.type.sample_type != "samples" || type.type.sample_unit != "count") continue;
    for (const ServiceRow& row : type.rows)
      if (row.total >= 0) counts[key_of(type, row)] = static_cast<uint64_t>(row.total);
  }
  for (TypeOverview& type : types) {
    for (ServiceRow& row : type.rows) {
      if (const auto found = counts.find(key_of(type, row)); found != counts.end())
        row.samples = found->second;
    }
  }
}

}  // namespace

Result<ServiceOverview> service_overview(Engine& engine, std::string_view tenant,
                                         const ServiceOverviewRequest& request) {
  ServiceOverview out;
  const uint64_t points = std::max<size_t>(request.points, 1);
  out.step_ns = as_step((std::max<uint64_t>(length_of(request.range), 1) - 1) / points + 1);
  out.previous = range_before(request.range);
  VESTA_ASSIGN(const auto types, stored_types(engine, tenant, request.selector, request.range));
  VESTA_ASSIGN(const PresenceByType present, presence(engine, tenant, request));
  QueryCost cost(request.budget);
  std::vector<TypeOverview> found(types.size());
  std::vector<uint64_t> cut(types.size());
  const Status done = for_each_in_parallel(
      types.size(), threads_for(types.size(), 1), [&](size_t, size_t at) -> Status {
        VESTA_ASSIGN(auto rows, rows_of(engine, tenant, request, types[at], out));
        if (rows.size() > request.most_rows) {
          cut[at] = rows.size() - request.most_rows;
          rows.resize(request.most_rows);
        }
        VESTA_TRY(cost.add(rows.size() * (sizeof(ServiceRow) + points * sizeof(int64_t))));
        const auto of_type = present.find(types[at].id());
        for (ServiceRow& row : rows) {
          if (of_type == present.end()) break;
          const auto known = of_type->second.find(row.service);
          if (known == of_type->second.end()) continue;
          row.last_ns = known->second.last_ns;
          row.hosts = known->second.hosts.size();
        }
        found[at] = {types[at], selector_word(types, types[at]), std::move(rows)};
        return {};
      });
  VESTA_TRY(done);
  count_samples(found);
  for (size_t at = 0; at < found.size(); ++at) {
    out.cut_rows += cut[at];
    if (!found[at].rows.empty()) out.types.push_back(std::move(found[at]));
  }
  return out;
}

}  // namespace vesta
