// The model-based test of engines: random operations are done to an engine and to MemoryEngine, and
// every answer must be the same. A failure prints the seed, the step and the shortest sequence that
// was found to fail. From the environment: VESTA_MODEL_SEEDS (how many), VESTA_MODEL_SEED (only
// this one), VESTA_MODEL_STEPS (operations for each).
//
// Takes part as with EngineSuite: INSTANTIATE_TEST_SUITE_P(Rocksdb, ModelSuite, …).
#pragma once

#include "store/testing/engine_suite.h"

namespace vesta::test {

class ModelSuite : public testing::TestWithParam<EngineFactory> {};

}  // namespace vesta::test
