#include "queries.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vesta::bench {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kHourNs = 3600 * kSecondNs;

// Totals of all nodes of the tree by name, in one pass from the back.
std::vector<int64_t> node_totals(const ServiceStacks& service) {
  std::vector<int64_t> totals(service.tree.name_node_count());
  for (StackNumber stack = 0; stack < service.weights.size(); ++stack) {
    if (service.weights[stack] == 0) continue;
    const TreeNode leaf = service.tree.leaf(stack);
    if (leaf != 0) totals[service.tree.name_node(leaf)] += service.weights[stack];
  }
  for (size_t node = totals.size(); node-- > 1;)
    totals[service.tree.name_parent(static_cast<NameNode>(node))] += totals[node];
  return totals;
}

double flame_graph(const Selection& selection) {
  double total = 0;
  for (const ServiceStacks& service : selection.services)
    total += static_cast<double>(node_totals(service)[0]);
  return total;
}

double top_functions(const Selection& selection, size_t count) {
  std::unordered_map<std::string_view, int64_t> functions;
  for (const ServiceStacks& service : selection.services) {
    const std::vector<int64_t> totals = node_totals(service);
    std::vector<int64_t> by_string(service.tree.string_count());
    for (NameNode node = 1; node < totals.size(); ++node)
      if (service.tree.is_outermost(node)) by_string[service.tree.name(node)] += totals[node];
    for (TreeString string = 0; string < by_string.size(); ++string)
      if (by_string[string] != 0) functions[service.tree.string(string)] += by_string[string];
  }
  std::vector<int64_t> largest;
  for (const auto& [name, value] : functions) largest.push_back(value);
  count = std::min(count, largest.size());
  std::ranges::partial_sort(largest, largest.begin() + static_cast<std::ptrdiff_t>(count),
                            std::greater<>());
  return largest.empty() ? 0 : static_cast<double>(largest.front());
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
