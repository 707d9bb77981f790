// Whether functions were inlined by their callers, by pprof's rules: a call is inlined if the
// outermost of its kind is so in every stack, and a function is what the calls of it are. Calls
// that can be inlined are few and told beforehand, so that all others need no table. Names are
// numbers. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace vesta {

enum class InlineUse : uint8_t { kNever, kSometimes, kAlways };

class InlineUses {
 public:
  explicit InlineUses(size_t names) : first_(names + 1), is_called_(names) {}

  // First every call that is inlined somewhere; more than once does no harm.
  void add(uint32_t caller, uint32_t callee) {
    if (caller != callee) calls_.emplace_back(callee, caller);
  }
  void seal() {
    std::ranges::sort(calls_);
    calls_.erase(std::unique(calls_.begin(), calls_.end()), calls_.end());
    is_broken_.resize(calls_.size());
    for (const auto& [callee, caller] : calls_) ++first_[callee + 1];
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  }
  bool empty() const { return calls_.empty(); }
  bool is_ever_inlined(uint32_t callee) const { return first_[callee] != first_[callee + 1]; }

  // Then every call that is not inlined, of those that are ever. `is_outermost()`: no call of the
  // same pair is nearer the root of the stack.
  template <class IsOutermost>
  void see(uint32_t caller, uint32_t callee, IsOutermost&& is_outermost) {
    if (caller == callee) return;
    uint32_t at = first_[callee];
    const uint32_t end = first_[callee + 1];
    while (at < end && calls_[at].second != caller) ++at;
    if (at == end) {
      is_called_[callee] = 1;
    } else if (is_broken_[at] == 0 && is_outermost()) {
      is_broken_[at] = 1;
    }
  }

  InlineUse of(uint32_t callee) const {
    bool inlined = false;
    bool called = is_called_[callee] != 0;
    for (uint32_t i = first_[callee]; i < first_[callee + 1]; ++i)
      (is_broken_[i] != 0 ? called : inlined) = true;
    if (!inlined) return InlineUse::kNever;
    return called ? InlineUse::kSometimes : InlineUse::kAlways;
  }

 private:
  std::vector<std::pair<uint32_t, uint32_t>> calls_;  // callee and caller, in order
  std::vector<uint32_t> first_;                       // in calls_, by callee
  std::vector<uint8_t> is_broken_;                    // by call: not inlined somewhere
  std::vector<uint8_t> is_called_;  // by name: from a caller that never inlines it
};

}  // namespace vesta
