#include "store/testing/model_suite.h"

#include <cstdlib>

#include "base/clock.h"
#include "store/testing/model_comparison.h"

namespace vesta::test {
namespace {

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_P(ModelSuite, AgreesWithTheModel) {
  const uint64_t only = from_environment("VESTA_MODEL_SEED", 0);
  const uint64_t seeds = only != 0 ? 1 : from_environment("VESTA_MODEL_SEEDS", 40);
  const uint64_t steps = from_environment("VESTA_MODEL_STEPS", 150);
  const int64_t clock_ns = unix_now().ns;
  for (uint64_t i = 1; i <= seeds; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    std::vector<Operation> operations = random_operations(seed, steps, clock_ns);
    const Disagreement found = run_operations(GetParam(), operations);
    if (found.text.empty()) continue;
    operations.resize(found.step + 1);
    const std::vector<Operation> few = shrink(GetParam(), operations);
    std::string sequence;
    for (const Operation& operation : few) sequence += "\n    " + describe(operation);
    const std::string last = run_operations(GetParam(), few).text;
    FAIL() << "seed " << seed << ", step " << found.step << " (" << describe(operations[found.step])
           << "):\n  " << found.text << "\n  the same with " << few.size()
           << " operations (times from the start of the data):" << sequence << "\n  "
           << (last.empty() ? "which does not fail every time" : last);
  }
}

}  // namespace
}  // namespace vesta::test
