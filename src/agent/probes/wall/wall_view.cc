#include "agent/probes/wall/wall_view.h"

namespace vesta::agent {
namespace {

constexpr std::array<std::string_view, 2> kNeeds = {"cpu", "off-cpu"};

// A wait is known by its reason, of which "run queue" is one.
std::optional<std::string> state_of(const NamedEvent& event) {
  return std::string(event.cause.empty() ? "running" : event.cause);
}

}  // namespace

const ProbeView kWallView = {
    .needs = kNeeds, .has_all_events = true, .label = "state", .part_of = state_of};

}  // namespace vesta::agent
