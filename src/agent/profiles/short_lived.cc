#include "agent/profiles/short_lived.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxPrograms = 4096;
constexpr uint32_t kMinLives = 3;     // before a program is known
constexpr uint32_t kMaxLives = 1000;  // then older ones count half
constexpr uint32_t kShortPerLong = 10;

}  // namespace

bool ShortLivedPrograms::is_short(const std::string& program, const ProcessLife& life,
                                  uint64_t window_start_ns, int64_t window_ns) {
  const bool is_new = life.start_ns != 0 && life.start_ns >= window_start_ns;
  if (is_new && life.has_ended) {
    note(program, true);
    return true;
  }
  // It lives across the end of this window, or did so across the one before: one compiler of many.
  const bool is_young =
      life.start_ns != 0 && life.start_ns + static_cast<uint64_t>(window_ns) >= window_start_ns;
  if (is_new || (is_young && life.has_ended)) return is_mostly_short(program);
  if (!life.has_ended) note(program, false);
  return false;
}

void ShortLivedPrograms::note(const std::string& program, bool was_short) {
  if (programs_.size() >= kMaxPrograms && !programs_.contains(program)) programs_.clear();
  Seen& seen = programs_[program];
  ++(was_short ? seen.short_lives : seen.long_lives);
  if (seen.short_lives + seen.long_lives > kMaxLives) {
    seen.short_lives /= 2;
    seen.long_lives /= 2;
  }
}

bool ShortLivedPrograms::is_mostly_short(const std::string& program) const {
  const auto known = programs_.find(program);
  return known != programs_.end() && known->second.short_lives >= kMinLives &&
         known->second.short_lives >= kShortPerLong * known->second.long_lives;
}

}  // namespace vesta::agent
