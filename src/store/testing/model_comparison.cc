#include "store/testing/model_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "store/memory/memory_engine.h"
#include "store/stack_tree.h"

namespace vesta::test {
namespace {

using Lines = std::vector<std::string>;

SelectRequest select_request(const Operation& op) {
  SelectRequest request;
  request.type = type_of(op.type);
  request.selector = selector_of(op.selector);
  request.range = op.range;
  request.group_by = op.group_by;
  request.samples.labels = selector_of(op.sample_selector);
  request.samples.times = op.sample_times;
  request.totals = op.totals;
  request.rates = op.rates;
  for (const Link& link : op.links) {
    if (op.by_trace) request.samples.trace_ids.push_back(link.trace_id);
    if (op.by_span) request.samples.span_ids.push_back(link.span_id);
  }
  return request;
}

// Engines number stacks as they like, so this goes by what a stack is.
std::vector<uint8_t> every_other_stack(const StackTree& tree) {
  std::vector<uint8_t> counts(tree.stack_count());
  for (size_t stack = 0; stack < counts.size(); ++stack)
    counts[stack] = stack_text(tree, StackNumber(stack)).size() % 2;
  return counts;
}

PointsRequest points_request(const Operation& op, bool by_span) {
  PointsRequest request;
  request.type = type_of(op.type);
  request.selector = selector_of(op.selector);
  request.range = op.range;
  request.by_span = by_span;
  request.overlapping = op.overlapping;
  return request;
}

Lines error_line(const Error& error) {
  return {fmt::format("error {}: {}", static_cast<int>(error.code), error.message)};
}

Lines lines_of(const Result<std::vector<Selection>>& answer) {
  if (!answer) return error_line(answer.error());
  Lines lines;
  for (const Selection& selection : *answer) {
    lines.push_back(header_of(selection));
    for (const auto& [stack, weight] : exact_weights_of(selection))
      lines.push_back(fmt::format("  {} {}", stack, weight));
  }
  return lines;
}

Lines lines_of(const Result<std::vector<TotalsSeries>>& answer) {
  if (!answer) return error_line(answer.error());
  Lines lines;
  for (const TotalsSeries& series : *answer) lines.push_back(text_of(series));
  return lines;
}

// In no order: an engine may hand points out as it finds them.
Lines lines_of(const Result<std::vector<ProfilePoint>>& answer) {
  if (!answer) return error_line(answer.error());
  Lines lines;
  for (const ProfilePoint& point : *answer) lines.push_back(text_of(point));
  std::ranges::sort(lines);
  return lines;
}

Lines lines_of(const Result<ProfileBatch>& answer) {
  if (!answer) return error_line(answer.error());
  if (const std::string problem = find_inconsistency(*answer); !problem.empty()) return {problem};
  return test::lines_of(*answer);
}

// Where samples are cut, an engine may round those of single stacks as it likes: what is left is
// what they add up to.
Lines sums_of(const Result<std::vector<Selection>>& answer) {
  if (!answer) return error_line(answer.error());
  Lines lines;
  for (Selection selection : *answer) {
    selection.services.clear();  // some have stacks that cancel out
    lines.push_back(header_of(selection));
  }
  return lines;
}
Lines sums_of(const Result<ProfileBatch>& answer) {
  if (!answer) return error_line(answer.error());
  if (const std::string problem = find_inconsistency(*answer); !problem.empty()) return {problem};
  Lines lines;
  for (const Profile& profile : answer->profiles) {
    int64_t sum = 0;
    for (size_t row = 0; row < profile.samples.size(); ++row)
      sum = saturating_add(sum, profile.value(row, 0));
    lines.push_back(fmt::format("{} at {} for {}", sum, profile.time_ns, profile.duration_ns));
  }
  return lines;
}

std::string difference(const Lines& actual, const Lines& model) {
  if (actual == model) return {};
  Lines a = actual;
  Lines m = model;
  std::ranges::sort(a);
  std::ranges::sort(m);
  Lines only_actual;
  Lines only_model;
  std::ranges::set_difference(a, m, std::back_inserter(only_actual));
  std::ranges::set_difference(m, a, std::back_inserter(only_model));
  if (only_actual.empty() && only_model.empty()) {
    return fmt::format("the order differs:\n  engine: {}\n  model:  {}",
                       fmt::join(actual, "\n          "), fmt::join(model, "\n          "));
  }
  return fmt::format("only the engine says:\n    {}\n  only the model says:\n    {}",
                     fmt::join(only_actual, "\n    "), fmt::join(only_model, "\n    "));
}

TimeRange widened(TimeRange range) {
  if (range.empty()) return range;
  return {saturating_subtract(range.start_ns, kHourNs), saturating_add(range.end_ns, kHourNs)};
}

// The names that a listing has in it.
Lines listing(Engine& engine, const Operation& op, TimeRange range) {
  const Selector selector = selector_of(op.selector);
  if (op.kind == OperationKind::kLabelNames) {
    auto names = engine.label_names(op.tenant, selector, range);
    return names ? *std::move(names) : error_line(names.error());
  }
  if (op.kind == OperationKind::kLabelValues) {
    auto values = engine.label_values(op.tenant, op.label, selector, range, op.prefix, 0);
    return values ? *std::move(values) : error_line(values.error());
  }
  const auto series = engine.series(op.tenant, selector, range);
  if (!series) return error_line(series.error());
  Lines lines;
  for (const SeriesInfo& info : *series) lines.push_back(text_of(info.labels));
  return lines;
}

}  // namespace

ModelComparison::ModelComparison(EngineUnderTest& actual)
    : actual_(actual), model_(make_memory_engine()) {}

std::string ModelComparison::apply(const Operation& op) {
  return op.kind < OperationKind::kSelect ? change(op) : ask(op);
}

std::string ModelComparison::change(const Operation& op) {
  Engine& engine = actual_.engine();
  const auto status = [](const Status& result) {
    return result ? std::string() : error_line(result.error()).front();
  };
  switch (op.kind) {
    case OperationKind::kWrite: {
      const ProfileBatch batch = batch_of(op.profiles);
      WriteOptions options = write_options_of(op.profiles);
      options.durable = op.durable;
      options.now_ns = op.now_ns;
      const auto actual = engine.write(op.tenant, batch, options);
      const auto expected = model_->write(op.tenant, batch, options);
      if (!actual) return error_line(actual.error()).front();
      // Not what is new: an engine may remember a series or a stack that has no profile any more.
      const auto text = [](const WriteReceipt& receipt) {
        return fmt::format("profiles {} samples {} duplicates {} expired {}", receipt.profiles,
                           receipt.samples, receipt.duplicates, receipt.expired);
      };
      return difference({text(*actual)}, {text(*expected)});
    }
    case OperationKind::kRemove: {
      const Selector selector = selector_of(op.selector);
      const auto actual = engine.remove(op.tenant, selector, op.range);
      const auto expected = model_->remove(op.tenant, selector, op.range);
      if (!actual) return error_line(actual.error()).front();
      return difference({fmt::format("{} series", *actual)}, {fmt::format("{} series", *expected)});
    }
    case OperationKind::kSetRetention:
      static_cast<void>(model_->set_retention(op.tenant, op.retention));
      return status(engine.set_retention(op.tenant, op.retention));
    case OperationKind::kApplyRetention:
      static_cast<void>(model_->apply_retention(op.now_ns));
      return status(engine.apply_retention(op.now_ns));
    case OperationKind::kMaintain:
      return status(engine.maintain());
    case OperationKind::kFlush:
      return status(engine.flush());
    default:
      actual_.reopen();
      return {};
  }
}

std::string ModelComparison::ask(const Operation& op) {
  Engine& engine = actual_.engine();
  switch (op.kind) {
    case OperationKind::kSelect: {
      const SelectRequest request = select_request(op);
      if (request.rates) {
        return difference(sums_of(engine.select(op.tenant, request)),
                          sums_of(model_->select(op.tenant, request)));
      }
      return difference(lines_of(engine.select(op.tenant, request)),
                        lines_of(model_->select(op.tenant, request)));
    }
    case OperationKind::kSelectOne:
      return compare_single(op);
    case OperationKind::kTotals: {
      TotalsRequest request;
      request.type = type_of(op.type);
      request.selector = selector_of(op.selector);
      request.range = op.range;
      request.step_ns = op.step_ns;
      request.group_by = op.group_by;
      request.samples = select_request(op).samples;
      if (op.keep_times) request.stacks = every_other_stack;
      request.by_start = op.by_start;
      return difference(lines_of(engine.totals(op.tenant, request)),
                        lines_of(model_->totals(op.tenant, request)));
    }
    case OperationKind::kPoints: {
      const PointsRequest request = points_request(op, op.by_span);
      return difference(lines_of(engine.points(op.tenant, request)),
                        lines_of(model_->points(op.tenant, request)));
    }
    case OperationKind::kSamples: {
      const SamplesRequest request{select_request(op), op.keep_labels, op.keep_links,
                                   op.keep_times};
      if (request.select.rates) {
        return difference(sums_of(engine.samples(op.tenant, request)),
                          sums_of(model_->samples(op.tenant, request)));
      }
      return difference(lines_of(engine.samples(op.tenant, request)),
                        lines_of(model_->samples(op.tenant, request)));
    }
    default:
      return compare_listing(op);
  }
}

// Listings may know the time by the hour only: they must have what is in the range, and nothing
// that is an hour away from it.
std::string ModelComparison::compare_listing(const Operation& op) {
  const Lines actual = listing(actual_.engine(), op, op.range);
  Lines at_least = listing(*model_, op, op.range);
  Lines at_most = listing(*model_, op, widened(op.range));
  Lines sorted = actual;
  std::ranges::sort(sorted);
  std::ranges::sort(at_least);
  std::ranges::sort(at_most);
  if (std::ranges::includes(sorted, at_least) && std::ranges::includes(at_most, sorted) &&
      (op.kind == OperationKind::kSeries || sorted == actual)) {
    return {};
  }
  return fmt::format(
      "the engine lists:\n    {}\n  the model at least:\n    {}\n  and at most:\n    {}",
      fmt::join(actual, "\n    "), fmt::join(at_least, "\n    "), fmt::join(at_most, "\n    "));
}

// Each engine has ids of its own, so the profile is found by what else is known of it.
std::string ModelComparison::compare_single(const Operation& op) {
  const PointsRequest request = points_request(op, false);
  const auto actual = actual_.engine().points(op.tenant, request);
  const auto expected = model_->points(op.tenant, request);
  if (std::string text = difference(lines_of(actual), lines_of(expected)); !text.empty())
    return text;
  if (!expected || expected->empty()) return {};
  const std::string wanted = text_of((*expected)[op.choice % expected->size()]);
  const auto find = [&](const std::vector<ProfilePoint>& points) {
    Lines ids;
    for (const ProfilePoint& point : points)
      if (text_of(point) == wanted) ids.push_back(point.profile_id);
    return ids;
  };
  SelectRequest select = select_request(op);
  select.rates.reset();
  select.profile_ids = find(*actual);
  const Lines of_engine = lines_of(actual_.engine().select(op.tenant, select));
  select.profile_ids = find(*expected);
  return difference(of_engine, lines_of(model_->select(op.tenant, select)));
}

Disagreement run_operations(const EngineFactory& factory,
                            const std::vector<Operation>& operations) {
  const std::unique_ptr<EngineUnderTest> actual = factory.make();
  ModelComparison comparison(*actual);
  for (size_t step = 0; step < operations.size(); ++step) {
    if (std::string text = comparison.apply(operations[step]); !text.empty())
      return {step, std::move(text)};
  }
  return {};
}

std::vector<Operation> shrink(const EngineFactory& factory, std::vector<Operation> operations) {
  constexpr int kTries = 300;
  int tries = 0;
  const auto fails = [&](const std::vector<Operation>& some) {
    ++tries;
    return !run_operations(factory, some).text.empty();
  };
  for (size_t chunk = std::max<size_t>(1, operations.size() / 2);; chunk /= 2) {
    for (size_t at = 0; at < operations.size() && tries < kTries;) {
      std::vector<Operation> fewer(operations.begin(),
                                   operations.begin() + static_cast<std::ptrdiff_t>(at));
      const size_t after = std::min(at + chunk, operations.size());
      fewer.insert(fewer.end(), operations.begin() + static_cast<std::ptrdiff_t>(after),
                   operations.end());
      if (fails(fewer)) {
        operations = std::move(fewer);
      } else {
        at = after;
      }
    }
    if (chunk <= 1 || tries >= kTries) return operations;
  }
}

}  // namespace vesta::test
