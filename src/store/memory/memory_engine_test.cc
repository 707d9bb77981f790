#include "store/memory/memory_engine.h"

#include "store/testing/engine_suite.h"

namespace vesta::test {
namespace {

class InMemory final : public EngineUnderTest {
 public:
  Engine& engine() override { return *engine_; }
  void reopen() override {}

 private:
  std::unique_ptr<Engine> engine_ = make_memory_engine();
};

INSTANTIATE_TEST_SUITE_P(Memory, EngineSuite,
                         testing::Values(EngineFactory{
                             "memory", [] { return std::make_unique<InMemory>(); }}),
                         engine_name);

}  // namespace
}  // namespace vesta::test
