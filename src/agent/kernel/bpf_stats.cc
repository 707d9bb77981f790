#include "agent/kernel/bpf_stats.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <cstring>

namespace vesta::agent {

Result<UniqueFd> count_bpf_run_time() {
  const int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
  if (fd >= 0) return UniqueFd(fd);
  return Error{
      ErrorCode::kPermission,
      fmt::format("cannot measure the run time of kernel programs: {}", std::strerror(-fd)),
      "start with CAP_SYS_ADMIN, or set sysctl kernel.bpf_stats_enabled=1"};
}

}  // namespace vesta::agent
