#include "store/testing/model_operations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <random>

#include "base/hash.h"
#include "base/labels.h"

namespace vesta::test {
namespace {

// A multiple of every number up to 30: averages of so many gauges are exact, whatever the order in
// which an engine rounds.
constexpr int64_t kDivisible = 2'329'089'562'800;
// The first two hours stay empty, so that retention by the real clock finds nothing to drop.
constexpr int64_t kFirstNs = kStartNs + 2 * kHourNs;
constexpr int64_t kSpanNs = 4 * kDayNs;

constexpr std::array kTypes = {kCpuType, kHeapType,
                               std::string_view("process_cpu:samples:count:cpu:nanoseconds")};
constexpr std::array<std::string_view, 3> kServices = {"web", "api", ""};
constexpr std::array<std::string_view, 3> kPods = {"a", "b", ""};
constexpr std::array<std::string_view, 13> kSelectors = {"{}",
                                                         R"({service_name="web"})",
                                                         R"({service_name="web"})",
                                                         R"({service_name="unknown_service"})",
                                                         R"({service_name=~"web|api"})",
                                                         R"({service_name="web", pod="a"})",
                                                         R"({pod="a"})",
                                                         R"({pod=""})",
                                                         R"({pod!="a"})",
                                                         R"({pod=~".+"})",
                                                         R"({pod!~"a|b"})",
                                                         R"({zone="eu", service_name!="api"})",
                                                         R"({__type__="cpu"})"};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t below(uint64_t limit) { return engine_() % limit; }
  int64_t in(int64_t limit) { return static_cast<int64_t>(below(static_cast<uint64_t>(limit))); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <class T>
  const auto& of(const T& choices) {
    return choices[below(std::size(choices))];
  }

  // Mostly at the edges of what an engine may group by, or beside them.
  int64_t time() {
    constexpr std::array<int64_t, 5> kBeside = {0, 0, -1, 1, 999'999};
    switch (below(4)) {
      case 0:
        return kFirstNs + in(kSpanNs / kHourNs) * kHourNs + kHourNs + of(kBeside);
      case 1:
        return kFirstNs + in(kSpanNs / kMinuteNs / 10) * 10 * kMinuteNs + 1 + of(kBeside);
      case 2:
        return kStartNs + (1 + in(kSpanNs / kDayNs)) * kDayNs + of(kBeside);
      default:
        return kFirstNs + in(kSpanNs);
    }
  }
  TimeRange range() {
    if (one_in(6)) return kAllTime;
    if (one_in(3)) {
      const int64_t unit = one_in(2) ? kDayNs : kHourNs;
      const int64_t first = in(kSpanNs / unit);
      return {kStartNs + first * unit, kStartNs + (first + 1 + in(2 * kDayNs / unit)) * unit};
    }
    const int64_t a = time();
    const int64_t b = time();
    return one_in(20) ? TimeRange{b, a} : TimeRange{std::min(a, b), std::max(a, b)};
  }
  Link link() {
    Link link;
    link.trace_id[0] = static_cast<uint8_t>(1 + below(2));
    link.span_id[0] = static_cast<uint8_t>(below(3));
    return link;
  }

 private:
  std::mt19937_64 engine_;
};

ProfileSpec random_profile(Random& random) {
  ProfileSpec spec;
  spec.type = random.of(kTypes);
  if (const auto service = random.of(kServices); !service.empty())
    spec.labels["service_name"] = service;
  if (const auto pod = random.of(kPods); !pod.empty()) spec.labels["pod"] = pod;
  if (random.one_in(4)) spec.labels["zone"] = random.one_in(2) ? "eu" : "us";
  spec.time_ns = random.time();
  spec.duration_ns = random.in(3) * 5 * kSecondNs;
  // Some reach into the next hours; some over all that profiles are spread over.
  if (random.one_in(3)) spec.duration_ns = random.in(90) * kMinuteNs + random.in(kSecondNs);
  if (random.one_in(20)) spec.duration_ns = random.in(3 * kDayNs);
  if (random.one_in(2)) {
    const bool has_several_services = random.one_in(3);
    spec.piece_of =
        piece_origin(hash64(has_several_services ? std::string() : spec.labels["service_name"]),
                     has_several_services);
    if (spec.labels["service_name"].empty()) spec.labels.erase("service_name");
  }
  spec.period = random.in(3) * 100;
  if (random.one_in(6)) spec.losses[random.one_in(2) ? "ring full" : "truncated"] = 1;
  const bool plain = random.one_in(2);
  for (size_t count = random.below(8); count > 0; --count) {
    SampleSpec sample;
    sample.stack = "main";
    for (size_t depth = random.below(4); depth > 0; --depth) {
      sample.stack += fmt::format(";f{}", random.below(5));
      if (random.one_in(3)) sample.stack += fmt::format("@a.cc:{}", random.below(3));
    }
    if (random.one_in(30)) sample.stack.clear();
    sample.value = random.in(50);
    if (random.one_in(20)) sample.value = -sample.value;
    if (spec.type == kHeapType) sample.value *= kDivisible;
    if (!plain) {
      if (random.one_in(2)) sample.labels["thread"] = fmt::format("t{}", random.below(3));
      if (random.one_in(4)) sample.numbers["size"] = 64 * random.in(3);
      if (random.one_in(3)) sample.link = random.link();
      if (random.one_in(3)) sample.time_ns = spec.time_ns + random.in(3);
    }
    spec.samples.push_back(std::move(sample));
  }
  return spec;
}

void choose_question(Random& random, Operation& op) {
  constexpr std::array<std::string_view, 4> kGroups = {"pod", "service_name", "zone", "__type__"};
  constexpr std::array<std::string_view, 5> kSampleSelectors = {
      "{}", R"({thread="t1"})", R"({thread!="t1"})", R"({size="64"})",
      R"({thread=~"t.", size=""})"};
  constexpr std::array<int64_t, 6> kSteps = {kSecondNs, 15 * kSecondNs,          10 * kMinuteNs,
                                             kHourNs,   7 * kHourNs + kSecondNs, kDayNs};
  op.type = random.of(kTypes);
  op.selector = random.of(kSelectors);
  op.range = random.range();
  for (size_t count = random.one_in(2) ? 0 : random.below(3); count > 0; --count)
    op.group_by.emplace_back(random.of(kGroups));
  if (random.one_in(4)) op.sample_selector = random.of(kSampleSelectors);
  if (random.one_in(4)) {
    op.links.push_back(random.link());
    op.by_trace = random.one_in(2);
    op.by_span = !op.by_trace;
  }
  if (random.one_in(6)) op.sample_times = random.range();
  if (random.one_in(6)) {
    const int64_t min = random.in(100);
    op.totals = ValueRange{min, min + random.in(1000)};
  }
  if (random.one_in(4)) {
    const auto min = static_cast<double>(random.in(100)) / 20;
    op.rates = random.one_in(2) ? RateRange{} : RateRange{min, min * 10};
  }
  op.overlapping = random.one_in(2);
  op.step_ns = random.of(kSteps);
  op.by_start = random.one_in(3);
  op.keep_labels = random.one_in(2);
  op.keep_links = random.one_in(2);
  op.keep_times = random.one_in(2);
  op.label = random.of(kGroups);
  if (random.one_in(3)) op.prefix = random.one_in(2) ? "a" : "w";
  op.choice = random.below(1000);
}

}  // namespace

std::vector<Operation> random_operations(uint64_t seed, size_t count, int64_t clock_ns) {
  Random random(seed);
  std::vector<Operation> operations;
  std::vector<size_t> writes;
  int64_t hours = 0;  // that the clock of retention has gone on
  for (size_t i = 0; i < count; ++i) {
    Operation op;
    op.tenant = random.one_in(4) ? "b" : "a";
    op.now_ns = clock_ns + hours * kHourNs;
    const uint64_t dice = random.below(100);
    if (dice < 35 || i < 5) {
      op.kind = OperationKind::kWrite;
      if (!writes.empty() && random.one_in(6)) {
        op = operations[random.of(writes)];  // sent again
        op.now_ns = clock_ns + hours * kHourNs;
      } else {
        for (size_t n = 1 + random.below(4); n > 0; --n)
          op.profiles.push_back(random_profile(random));
      }
      op.durable = !random.one_in(3);
      writes.push_back(i);
    } else if (dice < 40) {
      op.kind = OperationKind::kRemove;
      op.selector = random.of(kSelectors);
      op.range = random.range();
    } else if (dice < 42) {
      op.kind = OperationKind::kSetRetention;
      const auto rule = [&](std::string_view service) {
        const int64_t keep_ns = clock_ns - kStartNs + random.in(12) * kHourNs;
        op.retention.rules.push_back({std::string(service), random.one_in(5) ? 0 : keep_ns});
      };
      if (!random.one_in(3)) rule("");
      if (random.one_in(2)) rule("web");
    } else if (dice < 45) {
      op.kind = OperationKind::kApplyRetention;
      hours += random.in(12);
      op.now_ns = clock_ns + hours * kHourNs;
    } else if (dice < 52) {
      op.kind = OperationKind::kMaintain;
    } else if (dice < 54) {
      op.kind = OperationKind::kFlush;
    } else if (dice < 58) {
      op.kind = OperationKind::kReopen;
    } else {
      constexpr std::array kQuestions = {
          OperationKind::kSelect,     OperationKind::kSelect,     OperationKind::kSelect,
          OperationKind::kSelectOne,  OperationKind::kTotals,     OperationKind::kTotals,
          OperationKind::kPoints,     OperationKind::kSamples,    OperationKind::kSeries,
          OperationKind::kLabelNames, OperationKind::kLabelValues};
      op.kind = random.of(kQuestions);
      choose_question(random, op);
    }
    operations.push_back(std::move(op));
  }
  return operations;
}

std::string describe(const Operation& op) {
  const auto range = [&] {
    if (op.range.start_ns == INT64_MIN) return std::string("all time");
    return fmt::format("[{}, {})", op.range.start_ns - kStartNs, op.range.end_ns - kStartNs);
  };
  const auto question = [&] {
    std::string text = fmt::format(
        "{} {} {} by {} samples {} links {} trace {} span {} step {} keep {}{}{}", op.type,
        op.selector, range(), op.group_by, op.sample_selector, op.links.size(), op.by_trace,
        op.by_span, op.step_ns, op.keep_labels, op.keep_links, op.keep_times);
    if (op.sample_times)
      text +=
          fmt::format(" samples at [{}, {})", op.sample_times->start_ns, op.sample_times->end_ns);
    if (op.by_start) text += " by start";
    if (op.rates) text += fmt::format(" rates [{}, {})", op.rates->min, op.rates->max);
    if (op.overlapping) text += " overlapping";
    if (op.totals) text += fmt::format(" totals [{}, {})", op.totals->min, op.totals->max);
    return text;
  };
  std::string text = op.tenant + ": ";
  switch (op.kind) {
    case OperationKind::kWrite:
      text += fmt::format("write{}", op.durable ? "" : " (not durable)");
      for (const ProfileSpec& spec : op.profiles) {
        text += fmt::format("\n      {} {} at {} for {}:", spec.type,
                            text_of(Labels(spec.labels.begin(), spec.labels.end())),
                            spec.time_ns - kStartNs, spec.duration_ns);
        if (spec.piece_of != 0) text += fmt::format(" piece of {}", spec.piece_of);
        for (const SampleSpec& sample : spec.samples) {
          text += fmt::format(" {}={}", sample.stack, sample.value);
          if (!sample.labels.empty()) text += fmt::format("{}", sample.labels);
          if (!sample.numbers.empty()) text += fmt::format("{}", sample.numbers);
          if (sample.link != Link{})
            text += fmt::format("~{}/{}", sample.link.trace_id[0], sample.link.span_id[0]);
          if (sample.time_ns != 0) text += fmt::format("@{}", sample.time_ns - spec.time_ns);
        }
      }
      return text;
    case OperationKind::kRemove:
      return text + fmt::format("remove {} {}", op.selector, range());
    case OperationKind::kSetRetention:
      text += "set retention";
      for (const RetentionRule& rule : op.retention.rules)
        text += fmt::format(" '{}' keeps {} h", rule.service, rule.keep_ns / kHourNs);
      return text;
    case OperationKind::kApplyRetention:
      return text + fmt::format("apply retention at {}", op.now_ns);
    case OperationKind::kMaintain:
      return text + "maintain";
    case OperationKind::kFlush:
      return text + "flush";
    case OperationKind::kReopen:
      return text + "reopen";
    case OperationKind::kSelect:
      return text + "select " + question();
    case OperationKind::kSelectOne:
      return text + "select one " + question();
    case OperationKind::kTotals:
      return text + "totals " + question();
    case OperationKind::kPoints:
      return text + "points " + question();
    case OperationKind::kSamples:
      return text + "samples " + question();
    case OperationKind::kSeries:
      return text + "series " + question();
    case OperationKind::kLabelNames:
      return text + "label names " + question();
    case OperationKind::kLabelValues:
      return text + fmt::format("values of {} from '{}' {}", op.label, op.prefix, question());
  }
  return text;
}

}  // namespace vesta::test
