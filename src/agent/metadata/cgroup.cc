#include "agent/metadata/cgroup.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/hex.h"
#include "base/text.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxLines = 4096;
constexpr size_t kMaxComponents = 64;
constexpr size_t kMaxHostNameBytes = 253;  // host names; names of containers are shorter
constexpr size_t kIdDigits = 64;

struct Prefix {
  std::string_view text;
  std::string_view runtime;
};
// Before the id of a container, in names of scopes. Monitors of containers (crio-conmon-ID) are not
// in them.
constexpr std::array<Prefix, 6> kIdPrefixes = {{{"docker-", "docker"},
                                                {"cri-containerd-", "containerd"},
                                                {"nerdctl-", "containerd"},
                                                {"crio-", "cri-o"},
                                                {"libpod-payload-", "podman"},
                                                {"libpod-", "podman"}}};
// Folders, or the middle of "SLICE:PREFIX:ID", that name a runtime.
constexpr std::array<Prefix, 5> kRuntimeWords = {{{"docker", "docker"},
                                                  {"libpod", "podman"},
                                                  {"libpod_parent", "podman"},
                                                  {"cri-containerd", "containerd"},
                                                  {"crio", "cri-o"}}};

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty() && out.size() < kMaxComponents) {
    const size_t end = path.find('/');
    const std::string_view piece = path.substr(0, end);
    // "..": the reader's own namespace begins deeper down.
    if (!piece.empty() && piece != "..") out.push_back(piece);
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  }
  return out;
}

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}
bool is_container_id(std::string_view text) {
  return is_hex(text, kIdDigits);
}

bool remove_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}
bool remove_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::string_view runtime_of_word(std::string_view word) {
  for (const Prefix& known : kRuntimeWords) {
    if (word == known.text) return known.runtime;
  }
  return {};
}

// "8-4-4-4-12" digits, or 32 for static pods; '_' stands for '-' in names of slices.
std::string pod_uid(std::string_view text) {
  if (is_hex(text, 32)) return std::string(text);
  if (text.size() != 36) return "";
  std::string out(text);
  for (size_t i = 0; i < out.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (out[i] != '-' && out[i] != '_') return "";
      out[i] = '-';
    } else if (!is_hex({&out[i], 1}, 1)) {
      return "";
    }
  }
  return out;
}

// "pod<uid>" of the cgroupfs driver; "kubepods-burstable-pod<uid>.slice" of systemd's.
std::string find_pod_uid(std::string_view component) {
  if (remove_suffix(component, ".slice")) {
    if (component.find("kubepods") == std::string_view::npos) return "";
    const size_t at = component.rfind("-pod");
    return at == std::string_view::npos ? "" : pod_uid(component.substr(at + 4));
  }
  return remove_prefix(component, "pod") ? pod_uid(component) : "";
}

// systemd writes "-" in a name as "\x2d".
std::string unescape_unit(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\\x") && i + 3 < text.size()) {
      const int high = hex_digit(text[i + 2]);
      const int low = hex_digit(text[i + 3]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 3;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

struct Container {
  std::string id;
  std::string_view runtime;
  bool is_named = false;    // the id is a name that a person gave
  bool is_of_unit = false;  // its unit runs nothing but this container
  std::string_view ecs_task = {};
};

Container system_container(std::string_view component, std::string_view parent) {
  std::string_view name = component;
  if (remove_prefix(name, "lxc.payload.") || parent == "lxc" || parent == "lxc.payload")
    return {std::string(name), "lxc", true};
  if (parent != "machine.slice") return {};
  if ((remove_prefix(name, "machine-") && remove_suffix(name, ".scope") &&
       !name.starts_with("qemu")) ||
      (remove_prefix(name, "systemd-nspawn@") && remove_suffix(name, ".service"))) {
    return {unescape_unit(name), "systemd-nspawn", true};
  }
  return {};
}

// Task and container of Fargate: TASK-1234567890 in the folder of the task.
bool is_fargate_id(std::string_view text, std::string_view task) {
  return is_hex(task, 32) && text.size() > task.size() + 1 && text.starts_with(task) &&
         text[task.size()] == '-' && text.size() <= task.size() + 20 &&
         std::ranges::all_of(text.substr(task.size() + 1), is_digit);
}

Container container_at(const std::vector<std::string_view>& components, size_t i) {
  const std::string_view parent = i > 0 ? components[i - 1] : std::string_view();
  std::string_view name = components[i];
  // "kubepods-pod1.slice:cri-containerd:ID": made where the systemd driver is meant but not used.
  if (const size_t last = name.rfind(':'); last != std::string_view::npos) {
    const std::string_view before = name.substr(0, last);
    const size_t middle = before.rfind(':');
    if (middle != std::string_view::npos && is_container_id(name.substr(last + 1)))
      return {std::string(name.substr(last + 1)), runtime_of_word(before.substr(middle + 1))};
  }
  remove_suffix(name, ".scope");
  for (const Prefix& prefix : kIdPrefixes) {
    std::string_view id = name;
    if (!remove_prefix(id, prefix.text) || !is_container_id(id)) continue;
    Container out{std::string(id), prefix.runtime};
    out.is_of_unit = prefix.text == "libpod-payload-";
    std::string_view task = parent;
    if (remove_prefix(task, "ecstasks-") && remove_suffix(task, ".slice") && is_hex(task, 32))
      out.ecs_task = task;
    return out;
  }
  bool is_ecs = false;
  for (size_t j = 0; j < i; ++j) is_ecs = is_ecs || components[j] == "ecs";
  if (is_container_id(name)) {
    Container out{std::string(name), runtime_of_word(parent)};
    if (is_ecs) {
      out.runtime = "docker";
      out.ecs_task = parent;
    }
    return out;
  }
  if (is_ecs && is_fargate_id(name, parent)) {
    Container out{std::string(name), ""};
    out.ecs_task = parent;
    return out;
  }
  return system_container(components[i], parent);
}

bool is_unit(std::string_view component) {
  return component.size() <= kMaxHostNameBytes &&
         (component.ends_with(".service") || component.ends_with(".scope"));
}

// How much an identity tells.
int worth(const CgroupIdentity& identity) {
  return (identity.container_id.empty() ? 0 : 4) + (identity.pod_uid.empty() ? 0 : 2) +
         (identity.unit.empty() ? 0 : 1);
}

// A pod that is known by the mounts of the kubelet: /var/lib/kubelet/pods/UID/etc-hosts,
// …/pods/UID/containers/NAME/HASH.
void read_kubelet_mount(const std::vector<std::string_view>& root, CgroupIdentity& out) {
  for (size_t i = 0; i + 2 < root.size(); ++i) {
    if (root[i] != "pods") continue;
    const std::string uid = pod_uid(root[i + 1]);
    if (uid.empty()) continue;
    if (root[i + 2] == "etc-hosts" || root[i + 2] == "volumes") out.pod_uid = uid;
    if (root[i + 2] == "containers" && i + 4 < root.size() &&
        root[i + 3].size() <= kMaxHostNameBytes) {
      out.pod_uid = uid;
      out.container_name = root[i + 3];
    }
  }
}

// …/containers/ID/hostname of Docker, …/overlay-containers/ID/userdata/hostname of Podman.
void read_runtime_mount(const std::vector<std::string_view>& root, CgroupIdentity& out) {
  for (size_t i = 0; i + 2 < root.size(); ++i) {
    if (!is_container_id(root[i + 1])) continue;
    if (root[i] == "containers") {
      out.container_id = root[i + 1];
      out.runtime = "docker";
    } else if (root[i] == "overlay-containers" && root[i + 2] == "userdata") {
      out.container_id = root[i + 1];
      out.runtime = "podman";
    }
  }
}

}  // namespace

CgroupIdentity parse_cgroup_path(std::string_view path) {
  CgroupIdentity out;
  const std::vector<std::string_view> components = components_of(path);
  out.is_hidden = components.empty();
  for (size_t i = 0; i < components.size(); ++i) {
    const std::string_view component = components[i].substr(0, components[i].find(':'));
    if (std::string uid = find_pod_uid(component); !uid.empty()) {
      out.pod_uid = std::move(uid);
      out.unit.clear();
    }
    Container found = container_at(components, i);
    if (!found.id.empty() && found.id.size() <= kMaxHostNameBytes) {
      if (found.is_named) out.container_name = found.id;
      out.container_id = std::move(found.id);
      out.runtime = found.runtime;
      if (!found.ecs_task.empty()) out.ecs_task = found.ecs_task;
      // What started the container is not what runs in it.
      if (!found.is_of_unit) out.unit.clear();
    } else if (is_unit(component)) {
      out.unit = component;
    }
  }
  return out;
}

CgroupIdentity parse_cgroup(std::string_view text) {
  CgroupIdentity best;
  bool is_hidden = true;
  for (size_t line_count = 0; !text.empty() && line_count < kMaxLines; ++line_count) {
    const std::string_view line = take_line(text);
    // "4:memory:/path"; controllers may be named "name=systemd".
    const size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    CgroupIdentity found = parse_cgroup_path(line.substr(second + 1));
    is_hidden = is_hidden && found.is_hidden;
    if (worth(found) > worth(best)) best = std::move(found);
  }
  best.is_hidden = is_hidden;
  return best;
}

CgroupIdentity parse_container_mounts(std::string_view mountinfo) {
  CgroupIdentity by_cgroup;
  CgroupIdentity by_file;
  for (size_t line_count = 0; !mountinfo.empty() && line_count < kMaxLines; ++line_count) {
    std::string_view line = take_line(mountinfo);
    // proc(5): "36 35 98:0 /root /mount/point options … - type source options"
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const std::string_view type = line.substr(dash + 3);
    std::array<std::string_view, 5> fields;
    for (std::string_view& field : fields) {
      field = line.substr(0, line.find(' '));
      line.remove_prefix(std::min(line.size(), field.size() + 1));
    }
    const std::string_view mounted = fields[3];
    const std::string_view point = fields[4];
    if (type.starts_with("cgroup")) {
      if (!point.starts_with("/sys/fs/cgroup")) continue;
      CgroupIdentity found = parse_cgroup_path(mounted);
      if (found.is_in_container() && worth(found) > worth(by_cgroup)) by_cgroup = std::move(found);
      continue;
    }
    const std::vector<std::string_view> root = components_of(mounted);
    if (point == "/etc/hostname" || point == "/etc/hosts" || point == "/etc/resolv.conf")
      read_runtime_mount(root, by_file);
    read_kubelet_mount(root, by_file);
  }
  if (by_cgroup.is_in_container()) {
    if (by_cgroup.pod_uid.empty()) by_cgroup.pod_uid = by_file.pod_uid;
    if (by_cgroup.container_name.empty()) by_cgroup.container_name = by_file.container_name;
    return by_cgroup;
  }
  // In a pod those files belong to its sandbox, which is a container of its own.
  if (!by_file.pod_uid.empty()) {
    by_file.container_id.clear();
    by_file.runtime.clear();
  }
  return by_file;
}

std::string_view service_of_unit(std::string_view unit) {
  if (!remove_suffix(unit, ".service")) return {};
  if (unit.starts_with("user@") || unit.starts_with("run-")) return {};
  return unit.substr(0, unit.find('@'));
}

}  // namespace vesta::agent
