#include "query/agent_overview.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "query/host_label.h"
#include "query/type_words.h"
#include "reports/coverage.h"

namespace vesta {
namespace {

// A select holds the weights of all hosts that it asks for at once.
constexpr size_t kHostsAtOnce = 16;

// Where senders name themselves, best first.
constexpr std::array<std::string_view, 6> kAgentLabels = {
    "telemetry.distro.name", "telemetry.sdk.name", "telemetry_sdk_name", "agent.name", "agent",
    "pyroscope_spy"};

std::string_view agent_of(const Labels& labels) {
  for (const std::string_view name : kAgentLabels) {
    if (const std::string_view value = label_value(labels, name); !value.empty()) return value;
  }
  return {};
}

struct Host {
  std::set<std::string> services;
  std::set<std::string> types;           // ids
  std::map<std::string, size_t> agents;  // series that name each
  size_t series = 0;
  uint64_t profiles = 0;
  int64_t last_ns = INT64_MIN;
};
using Hosts = std::map<std::string, Host, std::less<>>;

Result<Hosts> hosts_of(Engine& engine, std::string_view tenant, TimeRange range) {
  VESTA_ASSIGN(const auto series, engine.series(tenant, {}, range));
  Hosts hosts;
  for (const SeriesInfo& info : series) {
    // The index goes by hours.
    if (info.last_ns < range.start_ns || info.first_ns >= range.end_ns) continue;
    Host& host = hosts[std::string(host_of(info.labels))];
    host.services.emplace(label_value(info.labels, kServiceLabel));
    host.types.emplace(label_value(info.labels, kTypeLabel));
    host.last_ns = std::max(host.last_ns, info.last_ns);
    ++host.series;
    if (const std::string_view agent = agent_of(info.labels); !agent.empty())
      ++host.agents[std::string(agent)];
  }
  return hosts;
}

// Some senders pass on what the processes that they look at say of their own libraries: what a few
// series say is not what sends all of them.
std::string agent_of(const Host& host) {
  for (const auto& [agent, series] : host.agents)
    if (series * 2 >= host.series) return agent;
  return {};
}

// All but the `most` that sent something last go.
uint64_t cut_hosts(Hosts& hosts, size_t most) {
  if (hosts.size() <= most) return 0;
  std::vector<std::pair<int64_t, std::string>> by_time;
  for (const auto& [name, host] : hosts) by_time.emplace_back(host.last_ns, name);
  std::ranges::sort(by_time);
  by_time.resize(hosts.size() - most);
  for (const auto& [time, name] : by_time) hosts.erase(name);
  return by_time.size();
}

Status count_profiles(Engine& engine, std::string_view tenant, TotalsRequest request,
                      const std::vector<ProfileType>& types, Hosts& hosts) {
  for (const ProfileType& type : types) {
    request.type = type;
    request.by_start = true;
    VESTA_ASSIGN(const auto groups, engine.totals(tenant, request));
    for (const TotalsSeries& group : groups) {
      const auto host = hosts.find(host_of(group.group));
      if (host == hosts.end()) continue;
      for (const TotalsPoint& point : group.points) host->second.profiles += point.profiles;
    }
  }
  return {};
}

// The type that tells most about how an agent samples; null when it has no CPU profiles.
const ProfileType* cpu_type_of(const Host& host, const std::vector<ProfileType>& types) {
  const ProfileType* found = nullptr;
  for (const ProfileType& type : types) {
    if (type.sample_type != "cpu" && type.period_type != "cpu") continue;
    if (!host.types.contains(type.id())) continue;
    if (found == nullptr || (type.sample_type == "cpu" && found->sample_type != "cpu"))
      found = &type;
  }
  return found;
}

double rate_of(const Selection& selection) {
  if (selection.period <= 0 || selection.type.period_unit != "nanoseconds") return 0;
  return std::round(1e11 / static_cast<double>(selection.period)) / 100;
}

// Everything of these hosts, and perhaps some more: whether a series says its host by one label or
// another is not for a selector to tell.
Result<Selector> selector_for(std::span<const std::string> hosts, std::string_view label) {
  std::string expression;
  for (const std::string& host : hosts)
    expression += (expression.empty() ? "" : "|") + RE2::QuoteMeta(host);
  VESTA_ASSIGN(LabelMatcher matcher,
               LabelMatcher::make(std::string(label), MatchOperator::kMatches, expression));
  return Selector{std::move(matcher)};
}

using Coverages = std::map<std::string, AgentCoverage, std::less<>>;

// Of one type, for some hosts that have it.
Status add_coverage(Engine& engine, std::string_view tenant, SelectRequest request,
                    std::span<const std::string> hosts, Coverages& out) {
  for (const std::string_view label : kHostLabels) {
    VESTA_ASSIGN(request.selector, selector_for(hosts, label));
    VESTA_ASSIGN(const auto selections, engine.select(tenant, request));
    for (const Selection& selection : selections) {
      // Series of this host under a better label are in that label's answer.
      const std::string_view host = host_of(selection.group);
      if (label_value(selection.group, label) != host || selection.profiles == 0) continue;
      const Coverage coverage = coverage_of(selection);
      AgentCoverage& one = out[std::string(host)];
      const double before = static_cast<double>(one.total);
      const double added = static_cast<double>(coverage.total);
      const auto mixed = [&](double a, double b) {
        return before + added == 0 ? 1 : (a * before + b * added) / (before + added);
      };
      one.named = mixed(one.named, coverage.named);
      one.complete = mixed(one.complete, coverage.complete);
      one.total = saturating_add(one.total, coverage.total);
      const double rate = rate_of(selection);
      one.rate_hz = one.rate_hz == 0 ? rate : std::min(one.rate_hz, rate);
      one.losses.insert(one.losses.end(), coverage.losses.begin(), coverage.losses.end());
    }
  }
  return {};
}

}  // namespace

Result<AgentOverview> agent_overview(Engine& engine, std::string_view tenant, TimeRange range,
                                     size_t most, const QueryBudget& budget) {
  VESTA_ASSIGN(const auto types, stored_types(engine, tenant, {}, range));
  VESTA_ASSIGN(Hosts hosts, hosts_of(engine, tenant, range));
  AgentOverview out;
  out.cut_agents = cut_hosts(hosts, most);
  TotalsRequest counting;
  counting.range = range;
  counting.step_ns = INT64_MAX;
  counting.group_by.assign(kHostLabels.begin(), kHostLabels.end());
  counting.budget = budget;
  VESTA_TRY(count_profiles(engine, tenant, counting, types, hosts));
  std::map<const ProfileType*, std::vector<std::string>> by_type;
  for (const auto& [name, host] : hosts) {
    const ProfileType* type = cpu_type_of(host, types);
    if (type != nullptr && !name.empty()) by_type[type].push_back(name);
  }
  Coverages coverages;
  SelectRequest request;
  request.range = range;
  request.group_by = counting.group_by;
  request.budget = budget;
  for (const auto& [type, names] : by_type) {
    request.type = *type;
    for (size_t first = 0; first < names.size(); first += kHostsAtOnce) {
      const auto some =
          std::span(names).subspan(first, std::min(kHostsAtOnce, names.size() - first));
      Coverages found;
      const Status added = add_coverage(engine, tenant, request, some, found);
      if (added.ok()) coverages.merge(found);
      // A page that lists hosts is better than none.
      if (!added.ok() && added.error().code != ErrorCode::kLimit) return added.error();
    }
  }
  for (auto& [name, host] : hosts) {
    AgentRow& row = out.agents.emplace_back();
    row.host = name;
    row.agent = agent_of(host);
    row.services = host.services.size();
    for (const ProfileType& type : types)
      if (host.types.contains(type.id())) row.types.push_back(selector_word(types, type));
    row.profiles = host.profiles;
    row.last_ns = host.last_ns;
    if (const auto known = coverages.find(name); known != coverages.end())
      row.coverage = std::move(known->second);
  }
  return out;
}

}  // namespace vesta
