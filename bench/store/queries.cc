#include "queries.h"

#include <algorithm>

#include "profile/prune.h"
#include "query/service_overview.h"
#include "reports/function_table.h"

namespace vesta::bench {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kHourNs = 3600 * kSecondNs;

// As the server answers: the reports that its API sends, on what the store selected.
double flame_graph(const Selection& selection) {
  const FlameTree tree = build_flame_tree(selection, {});
  const PrunedTree shown = prune(tree, 4000);
  return static_cast<double>(tree.weights.total[shown.nodes.front()]);
}

double top_functions(const Selection& selection, size_t count) {
  FunctionTable table = function_table(selection, {});
  sort_rows(table, TopOrder::kByCum, count);
  return table.rows.empty() ? 0 : static_cast<double>(table.rows.front().cum);
}

}  // namespace

Result<double> run_query(Engine& engine, const std::string& name, const QueryScope& scope) {
  // Aligned to nothing at both ends.
  const int64_t end = scope.end_ns - 37 * kSecondNs;
  const auto back = [&](int64_t hours) {
    return std::max(scope.start_ns, end - hours * kHourNs - 11 * kSecondNs);
  };
  SelectRequest request;
  VESTA_ASSIGN(request.type, ProfileType::parse("process_cpu:cpu:nanoseconds:cpu:nanoseconds"));
  request.budget.bytes = uint64_t{1} << 30;
  VESTA_ASSIGN(const TypedSelector service, parse_selector(R"({service_name="service-000"})"));
  VESTA_ASSIGN(const TypedSelector zone,
               parse_selector(R"({service_name="service-000", zone="eu-1a"})"));
  request.selector = service.selector;
  request.range = {back(24), end};
  if (name == "values") {
    VESTA_ASSIGN(const auto values,
                 engine.label_values(scope.tenant, "pod", service.selector, request.range, {}, 0));
    return static_cast<double>(values.size());
  }
  if (name == "totals-24h") {
    TotalsRequest totals;
    totals.type = request.type;
    totals.selector = request.selector;
    totals.range = request.range;
    totals.step_ns = 60 * kSecondNs;
    VESTA_ASSIGN(const auto answer, engine.totals(scope.tenant, totals));
    double sum = 0;
    for (const TotalsSeries& series : answer)
      for (const TotalsPoint& point : series.points) sum += static_cast<double>(point.value);
    return sum;
  }
  if (name == "overview-24h") {
    ServiceOverviewRequest overview;
    overview.range = request.range;
    overview.points = 60;
    overview.budget = request.budget;
    VESTA_ASSIGN(const ServiceOverview answer, service_overview(engine, scope.tenant, overview));
    return static_cast<double>(answer.types.at(0).rows.size());
  }
  if (name == "series-1h") {
    VESTA_ASSIGN(const auto pods,
                 engine.label_values(scope.tenant, "pod", service.selector, request.range, {}, 1));
    if (pods.empty()) return 0.0;
    VESTA_ASSIGN(LabelMatcher pod, LabelMatcher::make("pod", MatchOperator::kEqual, pods.front()));
    request.selector.push_back(std::move(pod));
    request.range.start_ns = back(1);
  } else if (name == "half-24h") {
    request.selector = zone.selector;
  } else if (name == "service-all") {
    request.range.start_ns = scope.start_ns + 11 * kSecondNs;
  } else if (name == "fleet-top50-24h") {
    request.selector.clear();
  } else if (name != "service-24h") {
    return Error{ErrorCode::kUsage, "there is no query '" + name + "'", {}};
  }
  VESTA_ASSIGN(const auto answer, engine.select(scope.tenant, request));
  return name == "fleet-top50-24h" ? top_functions(answer.front(), 50)
                                   : flame_graph(answer.front());
}

}  // namespace vesta::bench
