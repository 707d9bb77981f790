#include "agent/probes/mutex/mutex_view.h"

#include <array>

namespace vesta::agent {
namespace {

constexpr std::array<std::string_view, 1> kNeeds = {"off-cpu"};

std::optional<std::string> is_for_lock(const NamedEvent& event) {
  if (event.cause != "lock") return std::nullopt;
  return std::string();
}

// Whoever waits for a CPU has been woken already.
std::optional<std::string> is_for_somebody(const NamedEvent& event) {
  if (event.cause == "run queue") return std::nullopt;
  return std::string();
}

}  // namespace

const ProbeView kMutexView = {.needs = kNeeds, .part_of = is_for_lock};
const ProbeView kMutexHolderView = {
    .needs = kNeeds, .stack = ViewStack::kEnder, .part_of = is_for_lock};
const ProbeView kOffCpuWakerView = {
    .needs = kNeeds, .stack = ViewStack::kEventAndEnder, .part_of = is_for_somebody};

}  // namespace vesta::agent
