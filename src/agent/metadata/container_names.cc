#include "agent/metadata/container_names.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "agent/process/proc_files.h"
#include "net/http_client.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxStateBytes = size_t{1} << 20;
constexpr size_t kMaxListBytes = size_t{8} << 20;  // of all containers of a host
constexpr size_t kMaxNamespaces = 32;              // of containerd
constexpr size_t kIdBytes = 64;
constexpr uint64_t kAskAgainNs = 3'000'000'000;
constexpr uint64_t kSocketPauseNs = 60'000'000'000;  // after it did not answer

// It becomes a part of paths.
bool is_id(std::string_view id) {
  return id.size() == kIdBytes &&
         std::ranges::all_of(id, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

std::optional<std::string> read_file(const std::string& path, size_t max_bytes) {
  auto text = read_small_file(AT_FDCWD, path.c_str(), max_bytes);
  if (!text) return std::nullopt;
  return std::move(*text);
}

// k8s.io, moby, default …
std::vector<std::string> containerd_namespaces(const std::string& tasks) {
  std::vector<std::string> out;
  std::error_code problem;
  for (std::filesystem::directory_iterator at(tasks, problem), end;
       !problem && at != end && out.size() < kMaxNamespaces; at.increment(problem)) {
    out.push_back(at->path().filename());
  }
  return out;
}

}  // namespace

const ContainerState& ContainerNames::of(std::string_view runtime, const std::string& id,
                                         uint64_t now_ns) {
  static const ContainerState kNothing;
  if (!is_id(id)) return kNothing;
  const auto found = known_.find(id);
  if (found != known_.end() &&
      (!found->second.state.empty() || now_ns - found->second.read_ns < kAskAgainNs)) {
    return found->second.state;
  }
  if (found == known_.end() && known_.size() >= options_.max_containers) known_.clear();
  Known& known = known_[id];
  known.state = read(runtime, id, now_ns);
  known.read_ns = now_ns;
  return known.state;
}

ContainerState ContainerNames::read(std::string_view runtime, const std::string& id,
                                    uint64_t now_ns) {
  for (const std::string& root : options_.roots) {
    if (ContainerState state = read_files(root, id); !state.empty()) return state;
  }
  const bool may_ask = runtime == "docker" && !options_.docker_socket.empty() &&
                       (docker_failed_ns_ == 0 || now_ns - docker_failed_ns_ >= kSocketPauseNs);
  if (!may_ask) return {};
  for (const std::string& root : options_.roots) {
    if (ContainerState state = ask_docker(root, id); !state.empty()) return state;
  }
  docker_failed_ns_ = now_ns;
  return {};
}

ContainerState ContainerNames::read_files(const std::string& root, const std::string& id) const {
  const std::string docker =
      fmt::format("{}/var/lib/docker/containers/{}/config.v2.json", root, id);
  if (const auto text = read_file(docker, kMaxStateBytes)) return parse_docker_container(*text);
  const std::string tasks = root + "/run/containerd/io.containerd.runtime.v2.task";
  for (const std::string& name : containerd_namespaces(tasks)) {
    const std::string config = fmt::format("{}/{}/{}/config.json", tasks, name, id);
    if (const auto text = read_file(config, kMaxStateBytes)) return parse_oci_config(*text);
  }
  for (const char* folder : {"/run/containers/storage", "/var/lib/containers/storage"}) {
    const std::string config =
        fmt::format("{}{}/overlay-containers/{}/userdata/config.json", root, folder, id);
    if (const auto text = read_file(config, kMaxStateBytes)) {
      if (ContainerState state = parse_oci_config(*text); !state.empty()) return state;
    }
    const std::string list = fmt::format("{}{}/overlay-containers/containers.json", root, folder);
    if (const auto text = read_file(list, kMaxListBytes)) {
      if (ContainerState state = parse_stored_containers(*text, id); !state.empty()) return state;
    }
  }
  return {};
}

ContainerState ContainerNames::ask_docker(const std::string& root, const std::string& id) const {
  HttpCall call;
  call.unix_socket = root + options_.docker_socket;
  if (::access(call.unix_socket.c_str(), R_OK | W_OK) != 0) return {};
  call.url = fmt::format("http://docker/containers/{}/json", id);
  call.max_bytes = kMaxStateBytes;
  call.connect_timeout = options_.socket_timeout;
  call.timeout = options_.socket_timeout;
  call.follow_redirects = false;
  const auto answer = http_call(call);
  if (!answer || answer->status != 200) return {};
  return parse_docker_container(answer->body);
}

}  // namespace vesta::agent
