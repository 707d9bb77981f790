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

}  // namespace
}  // namespace vesta::test
