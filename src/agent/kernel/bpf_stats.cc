#include "agent/kernel/bpf_stats.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <cstring>

namespace vesta {

Result<UniqueFd> count_bpf_run_time() {
  const int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
  if (fd >= 0) return UniqueFd(fd);
  return Error{ErrorCode::kPermission,
               fmt::format("cannot count the run time of kernel programs: {}", std::strerror(-fd)),
               "it needs CAP_SYS_ADMIN at start, or sysctl kernel.bpf_stats_enabled=1"};
}

}  // namespace vesta
