#include "agent/recording/cpu_profile.h"

#include <fmt/format.h>

#include "agent/recording/unwind_result.h"

namespace vesta {

Profile make_cpu_profile(DictionaryBuilder& dictionary, uint64_t period_ns, int64_t start_unix_ns,
                         int64_t duration_ns) {
  Profile profile;
  profile.name = dictionary.string("process_cpu");
  profile.sample_types = {{dictionary.string("samples"), dictionary.string("count")},
                          {dictionary.string("cpu"), dictionary.string("nanoseconds")}};
  profile.default_type = 1;
  profile.period_type = {dictionary.string("cpu"), dictionary.string("nanoseconds")};
  profile.period = static_cast<int64_t>(period_ns);
  profile.time_ns = start_unix_ns;
  profile.duration_ns = duration_ns;
  return profile;
}

void add_unwind_losses(DictionaryBuilder& dictionary, Profile& profile,
                       const UnwindResults& results) {
  for (size_t result = 0; result < results.size(); ++result) {
    const auto code = static_cast<vesta_unwind_result>(result);
    if (is_whole(code) || results[result] == 0) continue;
    const std::string reason = fmt::format("incomplete stack: {}", unwind_result_name(code));
    profile.add_loss(dictionary.string(reason), results[result]);
  }
}

}  // namespace vesta
