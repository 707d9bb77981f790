// Which pod a container belongs to, read from a PodList as the kubelet and the API server of
// Kubernetes give it. Immutable once read: any number of threads may ask. The text may be anything:
// bounded memory, and pods that make no sense are left out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/metadata/attributes.h"
#include "base/result.h"

namespace vesta::agent {

struct Pod {
  Attributes attributes;     // k8s.*: name, uid, namespace, owners, labels
  std::string service_name;  // by its labels or what owns it; may be empty
  std::string service_version;
};

struct PodContainer {
  std::shared_ptr<const Pod> pod;
  std::string id;       // without the runtime before it
  std::string name;     // in the pod
  std::string runtime;  // docker, containerd, cri-o
};

class PodIndex {
 public:
  PodIndex() = default;
  // kInvalidInput when this is no PodList.
  static Result<PodIndex> parse(std::string_view json);

  // Null when it is not known.
  const PodContainer* container(std::string_view id) const;
  const PodContainer* container(std::string_view pod_uid, std::string_view name) const;
  // By its uid; for static pods also by the hash that their cgroups are named after.
  std::shared_ptr<const Pod> pod(std::string_view uid) const;

  size_t pod_count() const { return pod_count_; }
  size_t container_count() const { return containers_.size(); }
  uint64_t left_out() const { return left_out_; }  // pods and containers above the limits

  // Counts up with every list that was read; 0 for none. Set by its owner.
  uint64_t version = 0;

 private:
  friend class PodListReader;
  size_t pod_count_ = 0;
  uint64_t left_out_ = 0;
  std::vector<PodContainer> containers_;
  std::unordered_map<std::string, size_t> by_id_;
  std::unordered_map<std::string, size_t> by_name_;  // "uid/name"
  std::unordered_map<std::string, std::shared_ptr<const Pod>> pods_;
};

}  // namespace vesta::agent
