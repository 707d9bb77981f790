// The HTTP API that Pyroscope had before its services: what Grafana's older parts, scripts and
// assistants still ask.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/json_writer.h"
#include "base/time.h"
#include "profile/profile.h"
#include "query/time_range.h"
#include "query/type_words.h"
#include "reports/selection_tree.h"
#include "server/pyroscope/call_graph_dot.h"
#include "server/pyroscope/flamebearer_json.h"
#include "server/pyroscope/query_api.h"
#include "server/pyroscope/request_fields.h"
#include "server/pyroscope/sample_labels.h"

namespace vesta::server {
namespace {

constexpr size_t kRenderDotNodes = 100;
constexpr int64_t kMaxTimelinePoints = 100'000;
constexpr size_t kMaxGroupedPoints = 4'000'000;

// How many nodes are asked for. What is not a number is passed over, as in Pyroscope, whose clients
// send such words.
std::optional<int64_t> asked_nodes(const HttpRequest& request) {
  for (const std::string_view name : {"max-nodes", "maxNodes"}) {
    const std::string_view text = request.parameter(name);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return value;
  }
  return std::nullopt;
}

// A type that is missing or that nothing was stored under is the client's mistake here, as it is in
// Pyroscope, which knows types by their form alone.
Result<ProfileType> read_query_type(const QueryApi& api, std::string_view what,
                                    std::string_view word, const StacksQuery& query,
                                    const Caller& caller) {
  constexpr std::string_view kHint =
      "put one before the brace, as in process_cpu:cpu:nanoseconds:cpu:nanoseconds{}";
  if (word.empty()) {
    return Error{ErrorCode::kUsage, fmt::format("{} has no profile type", what),
                 std::string(kHint)};
  }
  VESTA_ASSIGN(const SplitSelector split, split_selector(api, caller, query.selector, query.range));
  auto type = find_stored_type(api.engine, caller.tenant, word, split.series, query.range);
  if (type) return type;
  Error error = std::move(type).error();
  const bool is_missing = error.code == ErrorCode::kNoData || error.code == ErrorCode::kNotFound;
  if (!is_missing) return error;
  return Error{ErrorCode::kUsage, fmt::format("{}: unknown profile type '{}'", what, word),
               std::string(kHint)};
}

// "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name="a"}". A short word for the type does,
// too.
Result<StacksQuery> read_query(const QueryApi& api, std::string_view what, std::string_view text,
                               std::string_view from, std::string_view until,
                               const Caller& caller) {
  if (text.empty()) {
    return Error{ErrorCode::kUsage, fmt::format("{} is required", what),
                 "send a profile type with a selector, such as "
                 "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"a\"}"};
  }
  StacksQuery query;
  VESTA_ASSIGN(query.range, parse_time_range(from, until, api.options.clock().ns));
  // Clients that forgot to fill it in send 0; the answer would cost a look at all that is stored.
  if (query.range.start_ns == 0 || query.range.end_ns == 0) {
    return Error{ErrorCode::kUsage, "a time of 0 is not a valid end of a range",
                 "send both ends, as in from=now-1h&until=now"};
  }
  auto parsed = parse_selector(text);
  if (!parsed) return with_context(std::move(parsed).error(), what);
  query.selector = std::move(parsed->selector);
  VESTA_ASSIGN(query.type, read_query_type(api, what, parsed->type, query, caller));
  return query;
}

Result<size_t> read_nodes(const QueryApi& api, const HttpRequest& request) {
  return read_max_nodes(asked_nodes(request), api.options);
}

// Steps from a round time on, all of them, as a chart draws them.
class TimelineShape {
 public:
  explicit TimelineShape(TimeRange range) {
    const int64_t first_s = range.start_ns / kSecond;
    const int64_t last_s = (range.end_ns - 1) / kSecond;
    step_s_ = timeline_step_s(saturating_subtract(last_s, first_s));
    start_s_ = first_s / step_s_ * step_s_;
    count_ = std::clamp<int64_t>((last_s - start_s_) / step_s_ + 1, 1, kMaxTimelinePoints);
  }
  int64_t step_ns() const { return step_s_ * kSecond; }
  size_t size() const { return static_cast<size_t>(count_); }
  TimeRange range() const {
    const int64_t end_s = std::min(start_s_ + count_ * step_s_, INT64_MAX / kSecond);
    return {start_s_ * kSecond, end_s * kSecond};
  }
  Timeline empty() const { return {start_s_, step_s_, std::vector<int64_t>(size())}; }
  void add(const TotalsPoint& point, bool average, Timeline& timeline) const {
    const int64_t at = (point.time_ns - start_s_ * kSecond) / step_ns();
    if (at < 0 || at >= count_) return;
    const int64_t value = average && point.profiles > 0
                              ? point.sum / static_cast<int64_t>(point.profiles)
                              : point.value;
    int64_t& sample = timeline.values[static_cast<size_t>(at)];
    sample = saturating_add(sample, value);
  }

 private:
  int64_t start_s_ = 0;
  int64_t step_s_ = 0;
  int64_t count_ = 0;
};

Result<std::vector<TotalsSeries>> totals(const QueryApi& api, const StacksQuery& query,
                                         const TimelineShape& shape, bool average,
                                         std::vector<std::string> group_by, const Caller& caller) {
  TotalsRequest request;
  VESTA_ASSIGN(SplitSelector split, split_selector(api, caller, query.selector, shape.range()));
  VESTA_ASSIGN(request.group_samples,
               are_sample_labels(api, caller, split.series, shape.range(), group_by));
  request.type = query.type;
  request.selector = std::move(split.series);
  request.samples.either = std::move(split.either);
  request.range = shape.range();
  request.step_ns = shape.step_ns();
  request.by_start = average;  // of whole profiles
  request.group_by = std::move(group_by);
  request.budget = budget_of(api.options, caller);
  return api.engine.totals(caller.tenant, request);
}

Result<HttpResponse> render(const QueryApi& api, const HttpRequest& request, const Caller& caller) {
  VESTA_ASSIGN(const StacksQuery query,
               read_query(api, "query", request.parameter("query"), request.parameter("from"),
                          request.parameter("until"), caller));
  VESTA_ASSIGN(const size_t max_nodes, read_nodes(api, request));
  // Any other word is a sum, as in Pyroscope.
  const bool average = request.parameter("aggregation") == "avg";
  VESTA_ASSIGN(const Selection selection, merge_stacks(api, query, caller));
  if (request.parameter("format") == "dot") {
    HttpResponse response;
    response.content_type = "text/vnd.graphviz; charset=utf-8";
    response.body =
        to_dot(selection, asked_nodes(request).value_or(0) > 0 ? max_nodes : kRenderDotNodes);
    return response;
  }

  Flamebearer answer;
  answer.type = query.type;
  answer.bars = to_flame_bars(build_flame_tree(selection, {}), max_nodes);
  const TimelineShape shape(query.range);
  answer.timeline = shape.empty();
  VESTA_ASSIGN(const auto all, totals(api, query, shape, average, {}, caller));
  for (const TotalsSeries& series : all) {
    for (const TotalsPoint& point : series.points) shape.add(point, average, answer.timeline);
  }
  const auto group_by = request.parameters("groupBy");
  if (!group_by.empty() && !group_by[0].empty()) {
    const std::string key(group_by[0]);
    std::map<std::string, Timeline> groups;
    VESTA_ASSIGN(const auto grouped, totals(api, query, shape, average, {key}, caller));
    if (grouped.size() * shape.size() > kMaxGroupedPoints) {
      return Error{ErrorCode::kLimit, fmt::format("{} has {} values", key, grouped.size()),
                   "group by a label with fewer values, or select some of them"};
    }
    for (const TotalsSeries& series : grouped) {
      if (series.points.empty()) continue;
      const auto [group, is_new] =
          groups.try_emplace(std::string(label_value(series.group, key)), shape.empty());
      for (const TotalsPoint& point : series.points) shape.add(point, average, group->second);
    }
    answer.groups.assign(groups.begin(), groups.end());
  }
  return json_response(to_json(answer));
}

Result<HttpResponse> render_diff(const QueryApi& api, const HttpRequest& request,
                                 const Caller& caller) {
  VESTA_ASSIGN(const StacksQuery left,
               read_query(api, "leftQuery", request.parameter("leftQuery"),
                          request.parameter("leftFrom"), request.parameter("leftUntil"), caller));
  VESTA_ASSIGN(const StacksQuery right,
               read_query(api, "rightQuery", request.parameter("rightQuery"),
                          request.parameter("rightFrom"), request.parameter("rightUntil"), caller));
  VESTA_ASSIGN(const size_t max_nodes, read_nodes(api, request));
  if (left.type != right.type) {
    return Error{ErrorCode::kUsage,
                 fmt::format("cannot compare {} with {}", left.type.id(), right.type.id()),
                 "use the same type on both sides"};
  }
  VESTA_ASSIGN(const Selection before, merge_stacks(api, left, caller));
  VESTA_ASSIGN(const Selection after, merge_stacks(api, right, caller));
  Flamebearer answer;
  answer.type = left.type;
  answer.bars =
      to_flame_bars(build_flame_tree(before, after, CompareScale::kAbsolute, {}), max_nodes);
  return json_response(to_json(answer));
}

// `__name__` lists profile types, as it always did here.
Result<HttpResponse> render_label_values(const QueryApi& api, const HttpRequest& request,
                                         const Caller& caller) {
  const std::string_view label = request.parameter("label");
  if (label.empty()) {
    return Error{ErrorCode::kUsage, "label is required", "send the name of a label"};
  }
  TimeRange range = kAllTime;
  if (request.find_parameter("from") || request.find_parameter("until")) {
    VESTA_ASSIGN(range, parse_time_range(request.parameter("from"), request.parameter("until"),
                                         api.options.clock().ns));
  }
  VESTA_ASSIGN(const auto values,
               all_label_values(api, caller, label == "__name__" ? kTypeLabel : label, {}, range));
  JsonWriter json;
  json.begin_array();
  for (const std::string& value : values) json.string(value);
  json.end_array();
  return json_response(json.take());
}

using Handler = Result<HttpResponse> (*)(const QueryApi&, const HttpRequest&, const Caller&);

void add_get(Routes& routes, const QueryApiPtr& api, std::string path, Handler handler) {
  routes.add(HttpRoute{"GET", std::move(path), Scope::kRead,
                       [api, handler](const HttpRequest& request, const Caller& caller) {
                         auto response = handler(*api, request, caller);
                         return response ? *std::move(response) : error_response(response.error());
                       }});
}

Result<HttpResponse> build_info(const QueryApi& api, const HttpRequest&, const Caller&) {
  JsonWriter json;
  json.begin_object();
  json.field("status", "success");
  json.key("data").begin_object();
  json.field("application", "Vesta");
  json.field("version", api.options.version);
  json.end_object();
  json.end_object();
  return json_response(json.take());
}

}  // namespace

void add_render_routes(Routes& routes, const QueryApiPtr& api) {
  for (const char* prefix : {"/pyroscope", ""}) {
    add_get(routes, api, std::string(prefix) + "/render", render);
    add_get(routes, api, std::string(prefix) + "/render-diff", render_diff);
    add_get(routes, api, std::string(prefix) + "/label-values", render_label_values);
  }
  add_get(routes, api, "/api/v1/status/buildinfo", build_info);
}

}  // namespace vesta::server
