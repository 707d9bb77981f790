#include "agent/metadata/pod_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "formats/common/json_document.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kFormat = "pod list";
constexpr size_t kMaxPods = 4096;  // of a node; Kubernetes advises 110
constexpr size_t kMaxContainersPerPod = 128;
constexpr size_t kMaxLabels = 64;
constexpr size_t kMaxTextBytes = 512;
constexpr std::string_view kStaticPodHash = "kubernetes.io/config.hash";
constexpr std::string_view kTemplateHash = "pod-template-hash";

// Calls `each(key, value)` for the fields of an object; false when this is none or not well-formed.
template <class Each>
bool each_field(ondemand::value value, Each&& each) {
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  for (auto result : object) {
    ondemand::field field;
    if (std::move(result).get(field)) return false;
    std::string_view key;
    if (field.unescaped_key().get(key)) return false;
    if (!each(key, field.value())) return false;
  }
  return true;
}

template <class Each>
bool each_item(ondemand::value value, Each&& each) {
  ondemand::json_type type{};
  if (value.type().get(type)) return false;
  if (type == ondemand::json_type::null) return true;
  ondemand::array array;
  if (value.get_array().get(array)) return false;
  for (auto result : array) {
    ondemand::value item;
    if (std::move(result).get(item)) return false;
    if (!each(item)) return false;
  }
  return true;
}

// Leaves `out` as it is when the value is no text, or too long to be one of these names.
bool read_text(ondemand::value value, std::string& out) {
  ondemand::json_type type{};
  if (value.type().get(type)) return false;
  std::string_view text;
  if (type != ondemand::json_type::string) return true;
  if (value.get_string().get(text)) return false;
  if (text.size() <= kMaxTextBytes) out = text;
  return true;
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
    JsonDocument document;
    VESTA_TRY(document.open(kFormat, json));
    ondemand::object root;
    if (!document.root(root)) return wrong("not a JSON object");
    bool has_items = false;
    for (auto result : root) {
      ondemand::field field;
      if (std::move(result).get(field)) return wrong("not valid JSON");
      if (field.key() != "items") continue;
      has_items = true;
      if (!each_item(field.value(), [&](ondemand::value item) { return read_pod(item); }))
        return wrong("not valid JSON in its items");
    }
    if (!has_items) return wrong("it has no items");
    return std::move(index_);
  }

 private:
  static Error wrong(std::string_view what) {
    return parse_error_at_field(kFormat, "items", what, "is this the address of Kubernetes?");
  }

  bool read_pod(ondemand::value item) {
    RawPod raw;
    const bool ok = each_field(item, [&](std::string_view key, ondemand::value value) {
      if (key == "metadata") return read_metadata(value, raw);
      if (key == "spec") {
        return each_field(value, [&](std::string_view name, ondemand::value text) {
          return name != "nodeName" || read_text(text, raw.node);
        });
      }
      if (key == "status") return read_status(value, raw);
      return true;
    });
    if (ok) add(raw);
    return ok;
  }

  static bool read_metadata(ondemand::value metadata, RawPod& raw) {
    return each_field(metadata, [&](std::string_view key, ondemand::value value) {
      if (key == "name") return read_text(value, raw.name);
      if (key == "namespace") return read_text(value, raw.name_space);
      if (key == "uid") return read_text(value, raw.uid);
      if (key == "labels") {
        return each_field(value, [&](std::string_view name, ondemand::value text) {
          if (raw.labels.size() >= kMaxLabels || name.size() > kMaxTextBytes) return true;
          raw.labels.emplace_back(name, "");
          return read_text(text, raw.labels.back().second);
        });
      }
      if (key == "annotations") {
        return each_field(value, [&](std::string_view name, ondemand::value text) {
          return name != kStaticPodHash || read_text(text, raw.static_hash);
        });
      }
      if (key == "ownerReferences")
        return each_item(value, [&](ondemand::value owner) { return read_owner(owner, raw); });
      return true;
    });
  }

  static bool read_owner(ondemand::value owner, RawPod& raw) {
    std::string kind;
    std::string name;
    bool is_controller = false;
    const bool ok = each_field(owner, [&](std::string_view key, ondemand::value value) {
      if (key == "kind") return read_text(value, kind);
      if (key == "name") return read_text(value, name);
      if (key == "controller") return value.get_bool().get(is_controller) == simdjson::SUCCESS;
      return true;
    });
    if (is_controller) {
      raw.owner_kind = kind;
      raw.owner_name = name;
    }
    return ok;
  }

  bool read_status(ondemand::value status, RawPod& raw) {
    return each_field(status, [&](std::string_view key, ondemand::value value) {
      if (key != "containerStatuses" && key != "initContainerStatuses" &&
          key != "ephemeralContainerStatuses") {
        return true;
      }
      return each_item(value, [&](ondemand::value container) {
        RawContainer found;
        const bool ok = each_field(container, [&](std::string_view name, ondemand::value text) {
          if (name == "name") return read_text(text, found.name);
          if (name == "containerID") return read_text(text, found.id);
          return true;
        });
        if (raw.containers.size() < kMaxContainersPerPod) {
          raw.containers.push_back(std::move(found));
        } else {
          ++index_.left_out_;
        }
        return ok;
      });
    });
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
  return PodListReader().read(json);
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
