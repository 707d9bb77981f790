#include "server/native/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/hex.h"
#include "base/time_words.h"
#include "profile/frame_profile.h"
#include "profile/label_frames.h"
#include "query/time_range.h"
#include "query/type_words.h"
#include "reports/labelled_samples.h"
#include "server/files/opened_file.h"

namespace vesta::server {
namespace {

template <size_t N>
Result<std::array<uint8_t, N>> read_id(std::string_view text, std::string_view what) {
  std::array<uint8_t, N> bytes{};
  if (parse_hex(text, bytes)) return bytes;
  return Error{ErrorCode::kUsage, fmt::format("{}: '{}' is not {} hex digits", what, text, 2 * N),
               ""};
}

// Of a file, all of it unless the words say otherwise.
Result<TimeRange> read_range(const ApiCall& call, const FileShelf::File& file,
                             std::string_view from, std::string_view to) {
  const int64_t now_ns = call.context.now_ns();
  if (!file) return parse_time_range(from, to, now_ns);
  TimeRange range = file->range;
  if (!from.empty()) {
    VESTA_ASSIGN(range.start_ns, parse_time_word(from, now_ns, "from"));
  }
  if (!to.empty()) {
    VESTA_ASSIGN(range.end_ns, parse_time_word(to, now_ns, "to"));
  }
  if (!range.empty()) return range;
  return Error{ErrorCode::kUsage, "the time range is empty: 'from' must be before 'to'",
               "the default is the whole file"};
}

Result<double> read_number(std::string_view text, std::string_view name) {
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(std::abs(value) < 9e18))
    return Error{ErrorCode::kUsage, fmt::format("{}: '{}' is not a number", name, text), ""};
  return value;
}

// A value, rounded up: those of profiles are whole numbers, but lines of a heat map lie anywhere.
Result<int64_t> read_value(std::string_view text, std::string_view name) {
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, whole);
      error == std::errc() && stop == end) {
    return whole;
  }
  VESTA_ASSIGN(const double value, read_number(text, name));
  return static_cast<int64_t>(std::ceil(value));
}

Result<std::optional<TimeRange>> read_sample_times(const ApiCall& call, std::string_view prefix) {
  const std::string from_name = fmt::format("{}sample_from", prefix);
  const std::string to_name = fmt::format("{}sample_to", prefix);
  const std::string_view from = call.parameter(from_name);
  const std::string_view to = call.parameter(to_name);
  std::optional<TimeRange> times;
  if (from.empty() && to.empty()) return times;
  times = kAllTime;
  const int64_t now_ns = call.context.now_ns();
  if (!from.empty()) {
    VESTA_ASSIGN(times->start_ns, parse_time_word(from, now_ns, from_name));
  }
  if (!to.empty()) {
    VESTA_ASSIGN(times->end_ns, parse_time_word(to, now_ns, to_name));
  }
  if (!times->empty()) return times;
  return Error{ErrorCode::kUsage,
               fmt::format("the time range is empty: '{}' must be before '{}'", from_name, to_name),
               ""};
}

// A question whose type is not found out yet.
struct Words {
  TypedSelector typed;
  TimeRange range;
  FileShelf::File file;
};

Result<Words> read_words(const ApiCall& call, FileShelf::File file, std::string_view query,
                         std::string_view from, std::string_view to) {
  if (query.empty() && !file) {
    return Error{ErrorCode::kUsage, "the parameter 'query' is missing",
                 "send a selector, as in query=cpu{service_name=\"checkout\"}"};
  }
  Words words;
  if (!query.empty()) {
    VESTA_ASSIGN(words.typed, parse_selector(query));
  }
  VESTA_ASSIGN(words.range, read_range(call, file, from, to));
  words.file = std::move(file);
  return words;
}

// The type that the word means among those of the matching series. Of a file, no word means the
// type that the file shows first.
Result<ProfileType> find_type_of(const ApiCall& call, const FileShelf::File& file,
                                 std::string_view word, const Selector& selector, TimeRange range) {
  Engine& engine = call.context.engine_of(file);
  if (file && word.empty()) {
    VESTA_ASSIGN(const auto types, stored_types(engine, call.caller.tenant, selector, range));
    for (const FileType& known : file->types) {
      if (std::ranges::find(types, known.type) != types.end()) return known.type;
    }
    return find_stored_type(types, word);
  }
  return find_stored_type(engine, call.caller.tenant, word, selector, range);
}

Result<ProfileType> type_of(const ApiCall& call, const Words& words) {
  return find_type_of(call, words.file, words.typed.type, words.typed.selector, words.range);
}

}  // namespace

Result<Question> read_question(const ApiCall& call) {
  VESTA_ASSIGN(Words words, read_words(call, call.file, call.parameter("query"),
                                       call.parameter("from"), call.parameter("to")));
  VESTA_ASSIGN(ProfileType type, type_of(call, words));
  return Question{std::move(type), std::move(words.typed.selector), words.range,
                  std::move(words.file)};
}

Result<Comparison> read_comparison(const ApiCall& call) {
  const auto given = [&](std::string_view name) { return call.parameter(name); };
  if (given("baseline_query").empty() && given("baseline_from").empty() &&
      given("baseline_to").empty() && given("baseline_file").empty()) {
    return Error{ErrorCode::kUsage, "the baseline is missing",
                 "send baseline_query, baseline_file, or baseline_from and baseline_to"};
  }
  VESTA_ASSIGN(const FileShelf::File baseline,
               call.context.find_file(call.caller.tenant, given("baseline_file")));
  const auto or_else = [&](std::string_view name, std::string_view otherwise) {
    return given(name).empty() ? given(otherwise) : given(name);
  };
  // Times of one file say nothing about another.
  const auto time_or_else = [&](std::string_view name, std::string_view otherwise) {
    return baseline ? given(name) : or_else(name, otherwise);
  };
  VESTA_ASSIGN(Words after,
               read_words(call, call.file, given("query"), given("from"), given("to")));
  VESTA_ASSIGN(Words before, read_words(call, baseline, or_else("baseline_query", "query"),
                                        time_or_else("baseline_from", "from"),
                                        time_or_else("baseline_to", "to")));
  auto after_type = type_of(call, after);
  if (!after_type && after_type.error().code != ErrorCode::kNoData)
    return std::move(after_type).error();
  auto before_type = type_of(call, before);
  if (!before_type && before_type.error().code != ErrorCode::kNoData)
    return std::move(before_type).error();
  if (!after_type && !before_type) return std::move(after_type).error();
  const ProfileType& of_after = after_type ? *after_type : *before_type;
  const ProfileType& of_before = before_type ? *before_type : *after_type;
  if (of_after.sample_unit != of_before.sample_unit) {
    return Error{ErrorCode::kUsage,
                 fmt::format("cannot compare {} with {}", of_before.id(), of_after.id()),
                 "both must have the same unit"};
  }
  return Comparison{{of_after, std::move(after.typed.selector), after.range, std::move(after.file)},
                    {of_before, std::move(before.typed.selector), before.range,
                     std::move(before.file), "baseline_"}};
}

Result<SeriesQuestion> read_series_question(const ApiCall& call, bool all_time_by_default) {
  SeriesQuestion question;
  const std::string_view from = call.parameter("from");
  const std::string_view to = call.parameter("to");
  if (all_time_by_default && from.empty() && to.empty()) {
    question.range = kAllTime;
  } else {
    VESTA_ASSIGN(question.range, read_range(call, call.file, from, to));
  }
  const std::string_view query = call.parameter("query");
  if (query.empty()) return question;
  VESTA_ASSIGN(TypedSelector typed, parse_selector(query));
  question.selector = std::move(typed.selector);
  if (typed.type.empty()) return question;
  VESTA_ASSIGN(const ProfileType type,
               find_type_of(call, call.file, typed.type, question.selector, question.range));
  VESTA_ASSIGN(LabelMatcher matcher,
               LabelMatcher::make(std::string(kTypeLabel), MatchOperator::kEqual, type.id()));
  question.selector.push_back(std::move(matcher));
  return question;
}

Result<std::optional<ValueRange>> read_value_range(const ApiCall& call, std::string_view prefix) {
  std::optional<ValueRange> range;
  for (const auto& [word, end] :
       {std::pair("value_min", &ValueRange::min), std::pair("value_max", &ValueRange::max)}) {
    const std::string name = fmt::format("{}{}", prefix, word);
    const std::string_view text = call.parameter(name);
    if (text.empty()) continue;
    if (!range) range.emplace();
    VESTA_ASSIGN((*range).*end, read_value(text, name));
  }
  if (range && range->min >= range->max) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{0}value_min must be less than {0}value_max", prefix),
                 "value_max itself is not included"};
  }
  return range;
}

Result<std::optional<RateRange>> read_rate_range(const ApiCall& call, const ProfileType& type,
                                                 std::string_view prefix) {
  std::optional<RateRange> range;
  for (const auto& [word, end] :
       {std::pair("rate_min", &RateRange::min), std::pair("rate_max", &RateRange::max)}) {
    const std::string name = fmt::format("{}{}", prefix, word);
    const std::string_view text = call.parameter(name);
    if (text.empty()) continue;
    if (!range) range.emplace();
    VESTA_ASSIGN((*range).*end, read_number(text, name));
  }
  if (!range) return range;
  if (type.temporality() == Temporality::kInstant) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{}rate_min and rate_max: {} has no rate", prefix, type.sample_type),
                 "use value_min and value_max"};
  }
  if (range->min >= range->max) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{0}rate_min must be less than {0}rate_max", prefix),
                 "rate_max itself is not included"};
  }
  return range;
}

Result<SelectRequest> select_request(const ApiCall& call, const Question& question) {
  SelectRequest request;
  request.type = question.type;
  request.selector = question.selector;
  request.range = question.range;
  request.budget = call.context.budget();
  for (const std::string_view id : call.request.parameters("trace_id")) {
    VESTA_ASSIGN(const auto bytes, read_id<16>(id, "trace_id"));
    request.samples.trace_ids.push_back(bytes);
  }
  for (const std::string_view id : call.request.parameters("span_id")) {
    VESTA_ASSIGN(const auto bytes, read_id<8>(id, "span_id"));
    request.samples.span_ids.push_back(bytes);
  }
  for (const std::string_view id : call.request.parameters("profile_id")) {
    VESTA_TRY(read_id<16>(id, "profile_id"));
    request.profile_ids.emplace_back(id);
  }
  if (const std::string_view labels = call.parameter("sample_labels"); !labels.empty()) {
    VESTA_ASSIGN(TypedSelector typed, parse_selector(labels));
    request.samples.labels = std::move(typed.selector);
  }
  VESTA_ASSIGN(request.totals, read_value_range(call, question.region_prefix));
  VESTA_ASSIGN(request.rates, read_rate_range(call, question.type, question.region_prefix));
  VESTA_ASSIGN(request.samples.times, read_sample_times(call, question.region_prefix));
  if (request.rates && request.samples.times) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{0}rate_min and {0}rate_max cannot be combined with {0}sample_from "
                             "and {0}sample_to",
                             question.region_prefix),
                 "choose profiles by rate, or samples by time"};
  }
  return request;
}

Result<Selection> select_all(const ApiCall& call, const Question& question) {
  VESTA_ASSIGN(const SelectRequest request, select_request(call, question));
  VESTA_ASSIGN(auto selections,
               call.context.engine_of(question.file).select(call.caller.tenant, request));
  if (selections.empty()) {
    Selection nothing;
    nothing.type = question.type;
    return nothing;
  }
  return std::move(selections.front());
}

namespace {

std::vector<std::string> all_of(const ApiCall& call, std::string_view name) {
  const auto found = call.request.parameters(name);
  return {found.begin(), found.end()};
}

LabelFrames read_label_frames(const ApiCall& call) {
  return {.root = all_of(call, "tag_root"),
          .leaf = all_of(call, "tag_leaf"),
          .unit = std::string(call.parameter("unit")),
          .none = "<unknown>"};
}

}  // namespace

bool asks_for_labels(const ApiCall& call) {
  return read_label_filters(call) || !read_label_frames(call).empty();
}

Result<Selection> select(const ApiCall& call, const Question& question) {
  VESTA_ASSIGN(Selection all, select_all(call, question));
  if (!asks_for_labels(call)) return all;
  VESTA_ASSIGN(const ProfileBatch samples, select_samples(call, question));
  return with_stacks_of(std::move(all), samples);
}

Result<ProfileBatch> select_samples(const ApiCall& call, const Question& question) {
  SamplesRequest request;
  VESTA_ASSIGN(request.select, select_request(call, question));
  request.keep_links = false;
  VESTA_ASSIGN(ProfileBatch batch,
               call.context.engine_of(question.file).samples(call.caller.tenant, request));
  if (const auto filters = read_label_filters(call)) VESTA_TRY(keep_labelled(batch, *filters));
  if (const LabelFrames frames = read_label_frames(call); !frames.empty())
    add_label_frames(batch, frames);
  return batch;
}

FrameFilters read_filters(const ApiCall& call) {
  FrameFilters filters;
  filters.focus = all_of(call, "focus");
  filters.ignore = all_of(call, "ignore");
  filters.hide = all_of(call, "hide");
  filters.show = all_of(call, "show");
  filters.show_from = all_of(call, "show_from");
  filters.prune_from = all_of(call, "prune_from");
  return filters;
}

std::optional<FrameFilters> read_label_filters(const ApiCall& call) {
  FrameFilters filters;
  filters.tag_focus = all_of(call, "tag_focus");
  filters.tag_ignore = all_of(call, "tag_ignore");
  if (filters.tag_focus.empty() && filters.tag_ignore.empty()) return std::nullopt;
  return filters;
}

Result<TreeOptions> read_tree_options(const ApiCall& call) {
  TreeOptions options;
  VESTA_ASSIGN(options.filter, StackFilter::compile(read_filters(call)));
  VESTA_ASSIGN(options.group, parse_granularity(call.parameter("group")));
  VESTA_ASSIGN(const std::string inlines, read_word(call, "inlines", "true|false|1|0"));
  options.inlines = inlines == "true" || inlines == "1";
  VESTA_ASSIGN(options.relative, read_flag(call, "relative"));
  return options;
}

Result<size_t> read_count(const ApiCall& call, std::string_view name, size_t otherwise,
                          size_t most) {
  const std::string_view text = call.parameter(name);
  if (text.empty()) return otherwise;
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: '{}' is not a number from 0 to {}", name, text, most), ""};
  }
  return number;
}

Result<size_t> read_nodes(const ApiCall& call) {
  const NativeApiOptions& options = call.context.options;
  VESTA_ASSIGN(const size_t nodes,
               read_count(call, "nodes", options.default_nodes, options.max_nodes));
  return nodes == 0 ? options.max_nodes : nodes;
}

Result<bool> read_flag(const ApiCall& call, std::string_view name) {
  VESTA_ASSIGN(const std::string word, read_word(call, name, "false|true|0|1"));
  return word == "true" || word == "1";
}

Result<std::string> read_word(const ApiCall& call, std::string_view name, std::string_view words) {
  const std::string_view text = call.parameter(name);
  for (std::string_view rest = words;;) {
    const size_t bar = std::min(rest.find('|'), rest.size());
    const std::string_view word = rest.substr(0, bar);
    if (text.empty() || text == word) return std::string(word);
    if (bar == rest.size()) break;
    rest.remove_prefix(bar + 1);
  }
  std::string list(words);
  std::ranges::replace(list, '|', ' ');
  return Error{ErrorCode::kUsage, fmt::format("{}: unknown value '{}'", name, text),
               "use one of: " + list};
}

}  // namespace vesta::server
