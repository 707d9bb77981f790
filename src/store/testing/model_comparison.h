// An engine and the model side by side: each operation is done to both, and what they answer is
// compared. Owns the model; refers to the engine. Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "store/testing/engine_suite.h"
#include "store/testing/model_operations.h"

namespace vesta::test {

class ModelComparison {
 public:
  explicit ModelComparison(EngineUnderTest& actual);

  // What the two disagree on; empty when they agree.
  std::string apply(const Operation& operation);

 private:
  std::string change(const Operation& operation);
  std::string ask(const Operation& operation);
  std::string compare_listing(const Operation& operation);
  std::string compare_single(const Operation& operation);

  EngineUnderTest& actual_;
  std::unique_ptr<Engine> model_;
};

// The first operation that they disagree on.
struct Disagreement {
  size_t step = 0;
  std::string text;  // empty: there is none
};
Disagreement run_operations(const EngineFactory& factory, const std::vector<Operation>& operations);

// A part of the operations that still fails, as short as some tries make it.
std::vector<Operation> shrink(const EngineFactory& factory, std::vector<Operation> operations);

}  // namespace vesta::test
