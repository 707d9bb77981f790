// How the oracles' programs come into the kernel: as probes do, on a session of the product. Test
// code only.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "agent/kernel/bpf_log.h"
#include "agent/kernel/kernel_session.h"

namespace vesta::agent {

inline constexpr uint32_t kOracleModules = 1024;

struct OracleLoad {
  std::unique_ptr<KernelSession> session;
  std::string problem;  // empty when all went well
  bool is_forbidden = false;
};

// Only processes that are added as targets are looked at.
template <class Skeleton>
OracleLoad load_oracle(Skeleton& skeleton, int (*load)(Skeleton*)) {
  KernelSessionOptions options;
  options.only_targets = true;
  options.ring_bytes = 32U << 20;
  options.max_processes = 1024;
  options.max_leaves = 4096;
  options.max_modules = kOracleModules;
  auto session = KernelSession::load(options);
  if (!session.ok())
    return {nullptr, session.error().message, session.error().code == ErrorCode::kPermission};
  if (const Status shared = (*session)->share_with(skeleton.obj, 0); !shared.ok())
    return {nullptr, shared.error().message};
  const BpfLog log;
  if (const int error = load(&skeleton); error != 0)
    return {nullptr, "the kernel did not take the oracle's program\n" + log.text(),
            error == -EPERM || error == -EACCES};
  return {std::move(*session), ""};
}

}  // namespace vesta::agent
