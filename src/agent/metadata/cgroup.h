// In which container, pod and systemd unit a process is, by the texts of /proc/PID/cgroup and
// /proc/PID/mountinfo. Pure functions of texts that may be anything: whoever may make a cgroup or a
// mount chooses what is in them. Bounded work; any thread.
#pragma once

#include <string>
#include <string_view>

namespace vesta::agent {

// Empty fields are not known.
struct CgroupIdentity {
  std::string container_id;    // 64 hexadecimal digits; of LXC and nspawn the name
  std::string runtime;         // docker, containerd, cri-o, podman, lxc, systemd-nspawn
  std::string container_name;  // of LXC and nspawn; within a pod only from its mounts
  std::string pod_uid;         // of Kubernetes, with dashes (static pods: 32 digits without)
  std::string ecs_task;
  std::string unit;  // of systemd: nginx.service, session-3.scope; in a container, the one inside
  // No cgroup tells anything: a namespace hides them.
  bool is_hidden = false;

  bool is_in_container() const { return !container_id.empty() || !pod_uid.empty(); }
};

// The text of /proc/PID/cgroup: version 1, 2 or both.
CgroupIdentity parse_cgroup(std::string_view text);

// A path alone.
CgroupIdentity parse_cgroup_path(std::string_view path);

// What the text of /proc/PID/mountinfo tells of the container: runtimes mount files from folders
// that are named after it.
CgroupIdentity parse_container_mounts(std::string_view mountinfo);

// What a unit says about the service: "nginx" for nginx.service, "postgresql" for
// postgresql@15-main.service. Empty for scopes (sessions, applications that a user started), for
// the managers of users and for units that were made up by systemd-run.
std::string_view service_of_unit(std::string_view unit);

}  // namespace vesta::agent
