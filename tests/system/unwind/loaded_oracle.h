// What the oracles' programs have in common once they are open: sizes, loading, the pid namespace,
// the time they take. Works on any skeleton whose source includes the headers of bpf/. Test code
// only.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "agent/kernel/bpf_log.h"
#include "agent/unwinding/kernel_maps.h"
#include "base/file.h"

namespace vesta {

inline constexpr uint32_t kOracleRingBytes = 32U << 20;
inline constexpr uint32_t kOracleModules = 1024;

struct OracleLoad {
  std::string problem;  // empty when all went well
  bool is_forbidden = false;
};

// Only processes that add_target() names are looked at.
template <class Skeleton>
OracleLoad load_oracle(Skeleton& skeleton, int (*load)(Skeleton*)) {
  const BpfLog log;
  skeleton.rodata->only_targets = 1;
  skeleton.rodata->ring_high_water = kOracleRingBytes / 2;
  bpf_map__set_max_entries(skeleton.maps.samples, kOracleRingBytes);
  bpf_map__set_max_entries(skeleton.maps.processes, 1024);
  bpf_map__set_max_entries(skeleton.maps.mapping_leaves, 4096);
  bpf_map__set_max_entries(skeleton.maps.modules, kOracleModules);
  bpf_map__set_max_entries(skeleton.maps.tables, kOracleModules);
  if (const int error = load(&skeleton); error != 0)
    return {"the kernel did not take the oracle's program\n" + log.text(),
            error == -EPERM || error == -EACCES};
  bpf_test_run_opts run{};
  run.sz = sizeof(run);
  if (bpf_prog_test_run_opts(bpf_program__fd(skeleton.progs.find_namespace), &run) != 0 ||
      run.retval != 0) {
    return {"cannot find out the pid namespace"};
  }
  return {};
}

template <class Skeleton>
KernelMapFds map_fds(const Skeleton& skeleton) {
  return {bpf_map__fd(skeleton.maps.processes), bpf_map__fd(skeleton.maps.mapping_leaves),
          bpf_map__fd(skeleton.maps.modules), bpf_map__fd(skeleton.maps.tables)};
}

template <class Skeleton>
bool add_target(const Skeleton& skeleton, uint32_t pid) {
  const uint8_t one = 1;
  return bpf_map_update_elem(bpf_map__fd(skeleton.maps.targets), &pid, &one, BPF_ANY) == 0;
}

// While this lives, the kernel measures how long programs run.
class ProgramTimes {
 public:
  ProgramTimes() : stats_(bpf_enable_stats(BPF_STATS_RUN_TIME)) {}

  struct Time {
    uint64_t ns = 0;
    uint64_t runs = 0;
  };
  static Time of(const bpf_program* program) {
    bpf_prog_info info{};
    uint32_t bytes = sizeof(info);
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) != 0) return {};
    return {info.run_time_ns, info.run_cnt};
  }

 private:
  UniqueFd stats_;
};

}  // namespace vesta
