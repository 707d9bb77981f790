#include "runtimes/runtime_table.h"

#include <algorithm>
#include <array>

#include "runtimes/go/go_runtime.h"
#include "runtimes/jit/perf_map_runtime.h"

namespace vesta {
namespace {

constexpr std::array<RuntimeKind, 2> kKinds = {{
    {1, "go", FrameKind::kGo, owns_go_code, why_go_is_unsupported, nullptr},
    {2, "perf map", FrameKind::kNative, nullptr, nullptr, attach_perf_map},
}};

}  // namespace

std::span<const RuntimeKind> runtime_kinds() {
  return kKinds;
}

const RuntimeKind* find_runtime(uint8_t number) {
  const auto* const found = std::ranges::find(kKinds, number, &RuntimeKind::number);
  return found == kKinds.end() ? nullptr : found;
}

const RuntimeKind* runtime_of(const ModuleSymbols& symbols) {
  const auto* const found = std::ranges::find_if(
      kKinds, [&](const RuntimeKind& kind) { return kind.owns != nullptr && kind.owns(symbols); });
  return found == kKinds.end() ? nullptr : found;
}

UnsupportedRuntime unsupported_runtime(const ModuleSymbols& symbols) {
  for (const RuntimeKind& kind : kKinds) {
    if (kind.unsupported == nullptr) continue;
    if (const std::string_view why = kind.unsupported(symbols); !why.empty()) return {&kind, why};
  }
  return {};
}

RuntimeInstance* ProcessRuntimes::instance(const RuntimeKind& kind) {
  if (kind.attach == nullptr) return nullptr;
  instances_.resize(kKinds.size());
  std::unique_ptr<RuntimeInstance>& found = instances_[static_cast<size_t>(&kind - kKinds.data())];
  if (found == nullptr) found = kind.attach(process_);
  return found.get();
}

bool ProcessRuntimes::name_code(uint64_t address, std::vector<SourceFrame>& frames) {
  return std::ranges::any_of(kKinds, [&](const RuntimeKind& kind) {
    RuntimeInstance* const at_work = instance(kind);
    return at_work != nullptr && at_work->name_code(address, frames);
  });
}

bool ProcessRuntimes::name_frame(uint8_t runtime, const RuntimeFrame& frame,
                                 std::vector<SourceFrame>& frames) {
  const RuntimeKind* const kind = find_runtime(runtime);
  RuntimeInstance* const at_work = kind == nullptr ? nullptr : instance(*kind);
  return at_work != nullptr && at_work->name_frame(frame, frames);
}

}  // namespace vesta
