// The pods of this node, asked of the kubelet or the API server from time to time, on a thread of
// its own that lives as long as the object. Whoever labels never waits: pods() is what was known
// last. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "agent/config/agent_config.h"
#include "agent/metadata/pod_index.h"
#include "base/mutex.h"
#include "base/result.h"

namespace vesta::agent {

struct KubernetesStats {
  bool is_enabled = false;
  std::string source;     // the URL that is asked
  uint64_t requests = 0;  // also those that failed
  uint64_t failures = 0;
  uint64_t pods = 0;
  uint64_t containers = 0;
  uint64_t left_out = 0;   // above the limits of one list
  std::string last_error;  // empty after a success; says why when it is not enabled
};

struct KubernetesOptions {
  std::chrono::milliseconds interval{30'000};
  std::chrono::milliseconds min_interval{5'000};  // for containers that are not known yet
  std::chrono::milliseconds timeout{10'000};
  uint64_t max_bytes = uint64_t{64} << 20;  // of one answer
  // A variable of our own environment; empty when it is not set. getenv() when this is not set.
  std::function<std::string(const char* name)> environment = {};
};

// The name of this node: as configured, NODE_NAME or K8S_NODE_NAME, else the host's.
std::string node_name(const KubernetesConfig& config, const KubernetesOptions& options);

class Kubernetes {
 public:
  // Asks nobody when there is nobody to ask: off, or neither a kubelet nor a pod's credentials.
  explicit Kubernetes(KubernetesConfig config, KubernetesOptions options = {});
  ~Kubernetes();
  Kubernetes(const Kubernetes&) = delete;
  Kubernetes& operator=(const Kubernetes&) = delete;

  bool is_enabled() const { return !url_.empty(); }
  // Never null.
  std::shared_ptr<const PodIndex> pods() const;
  // A container is not in pods(): asks again soon, at most every `min_interval`.
  void look_again();
  KubernetesStats stats() const;

 private:
  using Clock = std::chrono::steady_clock;
  void work(const std::stop_token& stop);
  Result<PodIndex> fetch(const std::stop_token& stop) const;
  void accept(PodIndex list) REQUIRES(mutex_);             // requires mutex_
  void note_failure(const Error& error) REQUIRES(mutex_);  // requires mutex_

  const KubernetesConfig config_;
  const KubernetesOptions options_;
  std::string url_;  // empty = not enabled

  mutable Mutex mutex_;
  CondVar wake_;
  bool is_wanted_ GUARDED_BY(mutex_) = false;
  std::shared_ptr<const PodIndex> pods_ GUARDED_BY(mutex_);
  KubernetesStats stats_ GUARDED_BY(mutex_);
  std::jthread thread_;  // last: ends before the rest does
};

}  // namespace vesta::agent
