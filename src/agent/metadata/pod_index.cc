#include "agent/metadata/pod_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/json_reader.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxPods = 4096;  // of a node; Kubernetes advises 110
constexpr size_t kMaxContainersPerPod = 128;
constexpr size_t kMaxLabels = 64;
constexpr size_t kMaxPodTextBytes = 512;
constexpr std::string_view kStaticPodHash = "kubernetes.io/config.hash";
constexpr std::string_view kTemplateHash = "pod-template-hash";

std::string text_of(const Json& value) {
  return value.short_text(kMaxPodTextBytes);
}

using TextMap = std::vector<std::pair<std::string, std::string>>;

std::string_view find(const TextMap& map, std::string_view key) {
  const auto it = std::ranges::find(map, key, &TextMap::value_type::first);
  return it == map.end() ? std::string_view() : std::string_view(it->second);
}

struct RawContainer {
  std::string name;
  std::string id;
};

struct RawPod {
  std::string name;
  std::string name_space;
  std::string uid;
  std::string node;
  std::string static_hash;
  std::string owner_kind;
  std::string owner_name;
  TextMap labels;
  std::vector<RawContainer> containers;
};

// The Deployment of a ReplicaSet: its name without the hash that the pods have as a label.
std::string_view deployment_of(std::string_view replica_set, std::string_view hash) {
  if (hash.empty() || replica_set.size() < hash.size() + 2 || !replica_set.ends_with(hash))
    return {};
  replica_set.remove_suffix(hash.size());
  return replica_set.back() == '-' ? replica_set.substr(0, replica_set.size() - 1)
                                   : std::string_view();
}

// The CronJob of a Job: its name without the time it was due, in minutes (seconds before 1.21).
std::string_view cron_job_of(std::string_view job) {
  const size_t dash = job.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return {};
  const std::string_view time = job.substr(dash + 1);
  const bool is_time = time.size() >= 8 && time.size() <= 10 &&
                       std::ranges::all_of(time, [](char c) { return c >= '0' && c <= '9'; });
  return is_time ? job.substr(0, dash) : std::string_view();
}

// Adds the owners; returns the name of the outermost.
std::string set_owner(const RawPod& raw, Attributes& attributes) {
  const std::string& name = raw.owner_name;
  if (raw.owner_kind == "ReplicaSet") {
    set_attribute(attributes, "k8s.replicaset.name", name);
    const std::string_view deployment = deployment_of(name, find(raw.labels, kTemplateHash));
    set_attribute(attributes, "k8s.deployment.name", deployment);
    return deployment.empty() ? name : std::string(deployment);
  }
  if (raw.owner_kind == "Job") {
    set_attribute(attributes, "k8s.job.name", name);
    const std::string_view cron = cron_job_of(name);
    set_attribute(attributes, "k8s.cronjob.name", cron);
    return cron.empty() ? name : std::string(cron);
  }
  if (raw.owner_kind == "DaemonSet") {
    set_attribute(attributes, "k8s.daemonset.name", name);
    return name;
  }
  if (raw.owner_kind == "StatefulSet") {
    set_attribute(attributes, "k8s.statefulset.name", name);
    return name;
  }
  return "";  // a node, for static pods, or something we know nothing of
}

std::shared_ptr<const Pod> make_pod(const RawPod& raw) {
  auto pod = std::make_shared<Pod>();
  Attributes& attributes = pod->attributes;
  set_attribute(attributes, attribute::kPodName, raw.name);
  set_attribute(attributes, attribute::kPodUid, raw.uid);
  set_attribute(attributes, attribute::kNamespaceName, raw.name_space);
  set_attribute(attributes, attribute::kNodeName, raw.node);
  const std::string owner = set_owner(raw, attributes);
  for (const auto& [key, value] : raw.labels)
    set_attribute(attributes, std::string(attribute::kPodLabelPrefix) + key, value);
  for (const std::string_view label : {"app.kubernetes.io/name", "app"}) {
    if (pod->service_name.empty()) pod->service_name = find(raw.labels, label);
  }
  if (pod->service_name.empty()) pod->service_name = owner;
  pod->service_version = find(raw.labels, "app.kubernetes.io/version");
  return pod;
}

}  // namespace

class PodListReader {
 public:
  Result<PodIndex> read(std::string_view json) {
    VESTA_ASSIGN(const JsonTree tree, JsonTree::parse(json));
    const Json items = tree.root()["items"];
    if (items.is_null()) return std::move(index_);
    VESTA_ASSIGN(const auto pods, items.list());
    for (const Json& pod : pods) {
      VESTA_TRY(pod.fields());
      add(raw_pod(pod));
    }
    return std::move(index_);
  }

 private:
  RawPod raw_pod(const Json& pod) {
    const Json metadata = pod["metadata"];
    RawPod raw;
    raw.name = text_of(metadata["name"]);
    raw.name_space = text_of(metadata["namespace"]);
    raw.uid = text_of(metadata["uid"]);
    raw.node = text_of(pod["spec"]["nodeName"]);
    raw.static_hash = text_of(metadata["annotations"][kStaticPodHash]);
    for (const auto& [name, value] : metadata["labels"].fields().value_or({})) {
      if (raw.labels.size() < kMaxLabels && name.size() <= kMaxPodTextBytes)
        raw.labels.emplace_back(name, text_of(value));
    }
    for (const Json& owner : metadata["ownerReferences"].list().value_or({})) {
      if (!owner["controller"].boolean().value_or(false)) continue;
      raw.owner_kind = text_of(owner["kind"]);
      raw.owner_name = text_of(owner["name"]);
    }
    for (const char* kind :
         {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}) {
      for (const Json& container : pod["status"][kind].list().value_or({})) {
        if (raw.containers.size() < kMaxContainersPerPod) {
          raw.containers.push_back({text_of(container["name"]), text_of(container["containerID"])});
        } else {
          ++index_.left_out_;
        }
      }
    }
    return raw;
  }

  void add(const RawPod& raw) {
    if (raw.uid.empty() || raw.name.empty()) return;
    if (index_.pod_count_ >= kMaxPods) {
      ++index_.left_out_;
      return;
    }
    ++index_.pod_count_;
    const std::shared_ptr<const Pod> pod = make_pod(raw);
    index_.pods_[raw.uid] = pod;
    if (!raw.static_hash.empty()) index_.pods_[raw.static_hash] = pod;
    for (const RawContainer& container : raw.containers) {
      // "containerd://ID"; empty until it has started.
      const size_t colon = container.id.find("://");
      if (colon == std::string::npos || colon + 3 == container.id.size()) continue;
      index_.by_id_[container.id.substr(colon + 3)] = index_.containers_.size();
      index_.by_name_[raw.uid + "/" + container.name] = index_.containers_.size();
      index_.containers_.push_back(
          {pod, container.id.substr(colon + 3), container.name, container.id.substr(0, colon)});
    }
  }

  PodIndex index_;
};

Result<PodIndex> PodIndex::parse(std::string_view json) {
  auto index = PodListReader().read(json);
  if (index) return index;
  return Error{ErrorCode::kInvalidInput, "not a list of pods: " + index.error().message,
               "check the address of Kubernetes"};
}

const PodContainer* PodIndex::container(std::string_view id) const {
  const auto it = by_id_.find(std::string(id));
  return it == by_id_.end() ? nullptr : &containers_[it->second];
}

const PodContainer* PodIndex::container(std::string_view pod_uid, std::string_view name) const {
  const auto it = by_name_.find(fmt::format("{}/{}", pod_uid, name));
  return it == by_name_.end() ? nullptr : &containers_[it->second];
}

std::shared_ptr<const Pod> PodIndex::pod(std::string_view uid) const {
  const auto it = pods_.find(std::string(uid));
  return it == pods_.end() ? nullptr : it->second;
}

}  // namespace vesta::agent
