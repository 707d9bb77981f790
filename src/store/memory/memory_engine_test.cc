#include "store/memory/memory_engine.h"

#include "store/testing/engine_suite.h"
#include "store/testing/model_comparison.h"
#include "store/testing/model_suite.h"

namespace vesta::test {
namespace {

class InMemory : public EngineUnderTest {
 public:
  Engine& engine() override { return *engine_; }
  void reopen() override {}

 protected:
  std::unique_ptr<Engine> engine_ = make_memory_engine();
};

const EngineFactory kMemory{"memory", [] { return std::make_unique<InMemory>(); }};

INSTANTIATE_TEST_SUITE_P(Memory, EngineSuite, testing::Values(kMemory), engine_name);
// Against itself: the test's own bookkeeping must not fail.
INSTANTIATE_TEST_SUITE_P(Memory, ModelSuite, testing::Values(kMemory), engine_name);

// An engine that is as wrong as one can be.
class Forgetful final : public InMemory {
 public:
  void reopen() override { engine_ = make_memory_engine(); }
};

TEST(ModelComparisonTest, FindsTheShortestWayToShowAFault) {
  const EngineFactory factory{"forgetful", [] { return std::make_unique<Forgetful>(); }};
  const auto operations = random_operations(1, 150, kStartNs + 365 * kDayNs);
  const Disagreement found = run_operations(factory, operations);
  ASSERT_NE(found.text, "");
  const auto few = shrink(factory, operations);
  ASSERT_EQ(few.size(), 3U) << "write, reopen, ask";
  EXPECT_EQ(few[0].kind, OperationKind::kWrite);
  EXPECT_EQ(few[1].kind, OperationKind::kReopen);
  EXPECT_NE(describe(few[2]), "");
}

TEST(MemoryEngineTest, ContentsAreThoseOfTheAnswers) {
  const auto engine = make_memory_engine();
  ProfileSpec first{.labels = {{"service_name", "web"}, {"pod", "a"}},
                    .samples = {{.stack = "main;x", .value = 1, .labels = {{"thread", "1"}}},
                                {.stack = "main;x", .value = 2, .labels = {{"thread", "2"}}},
                                {.stack = "main;y", .value = 3, .time_ns = kStartNs - 5}}};
  ProfileSpec second = first;
  second.time_ns += kMinuteNs;
  second.samples[2].time_ns = kStartNs + 9;
  ProfileSpec heap{.type = std::string(kHeapType),
                   .labels = {{"service_name", "api"}},
                   .samples = {{.stack = "main", .value = 1, .numbers = {{"size", 8}}}}};
  ASSERT_TRUE(engine->write("t", batch_of({first, second, heap}), {}));
  const MemoryContents contents = engine->contents("t");
  ASSERT_EQ(contents.samples.size(), 2U);
  for (const std::string_view type : {kCpuType, kHeapType}) {
    SamplesRequest request;
    request.select.type = type_of(type);
    request.select.range = kAllTime;
    request.keep_times = true;
    const auto batch = engine->samples("t", request);
    ASSERT_TRUE(batch);
    size_t rows = 0;
    for (const Profile& profile : batch->profiles) rows += profile.samples.size();
    EXPECT_EQ(contents.samples.at(type_of(type)), rows) << type;
  }
  EXPECT_EQ(contents.samples.at(type_of(kCpuType)), 4U);
  EXPECT_EQ(contents.range.start_ns, kStartNs - 5);
  EXPECT_EQ(contents.range.end_ns, second.time_ns + second.duration_ns);
  EXPECT_EQ(contents.labels, (std::vector<std::string>{"pod", "service_name", "size", "thread"}));
  EXPECT_TRUE(engine->contents("nobody").samples.empty());
}

}  // namespace
}  // namespace vesta::test
