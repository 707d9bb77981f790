// Makes the kernel count how long its BPF programs run, for as long as the file is open. Costs some
// 25 ns per run of any program, so it is for those who act on the figures. Plain functions.
#pragma once

#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

// Needs CAP_SYS_ADMIN, so it is called before privileges are given up.
Result<UniqueFd> count_bpf_run_time();

}  // namespace vesta::agent
