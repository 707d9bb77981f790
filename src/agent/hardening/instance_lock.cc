#include "agent/hardening/instance_lock.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <instance_lock.skel.h>
#include <shared/instance_lock.h>
#include "agent/kernel/bpf_log.h"
#include "agent/kernel/privileges.h"

namespace vesta::agent {
namespace {

constexpr const char* kHint = "only one agent can run per host: stop the other one, or use it";

Error held(std::string_view what, std::string_view pid) {
  return {ErrorCode::kUnavailable,
          fmt::format("another agent {}: process {}", what, pid.empty() ? "unknown" : pid), kHint};
}

struct Skeleton {
  void operator()(instance_lock_bpf* skeleton) const { instance_lock_bpf__destroy(skeleton); }
};
struct Link {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};

Result<std::vector<vesta_lock>> list_locks(const instance_lock_bpf& skeleton) {
  const std::unique_ptr<bpf_link, Link> link(
      bpf_program__attach_iter(skeleton.progs.list_locks, nullptr));
  if (link == nullptr) return permission_error("look for other agents", errno);
  const UniqueFd list(bpf_iter_create(bpf_link__fd(link.get())));
  if (!list.valid()) return permission_error("look for other agents", errno);
  std::string bytes;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t count = ::read(list.get(), part.data(), part.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return permission_error("look for other agents", errno);
    if (count == 0) break;
    bytes.append(part.data(), static_cast<size_t>(count));
  }
  std::vector<vesta_lock> locks(bytes.size() / sizeof(vesta_lock));
  if (!locks.empty()) std::memcpy(locks.data(), bytes.data(), locks.size() * sizeof(vesta_lock));
  return locks;
}

}  // namespace

Result<InstanceLock> InstanceLock::take(const InstanceLockOptions& options) {
  InstanceLock lock;
  if (!options.state_folder.empty()) VESTA_TRY(lock.take_folder(options.state_folder));
  if (options.whole_host) VESTA_TRY(lock.take_host());
  return lock;
}

Status InstanceLock::take_folder(const std::string& folder) {
  const std::string path = folder + "/lock";
  file_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file_.valid()) {
    return Error{errno == EACCES ? ErrorCode::kPermission : ErrorCode::kIo,
                 fmt::format("cannot open {}: {}", path, std::strerror(errno)),
                 "create the state folder, and make it writable"};
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 32> pid{};
    const ssize_t bytes = ::pread(file_.get(), pid.data(), pid.size() - 1, 0);
    std::string_view text(pid.data(), bytes > 0 ? static_cast<size_t>(bytes) : 0);
    return held(fmt::format("uses {}", folder), text.substr(0, text.find('\n')));
  }
  const std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file_.get(), 0) != 0 ||
      ::pwrite(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    // The lock holds all the same; who is kept out is only not told by whom.
    return {};
  }
  return {};
}

Status InstanceLock::take_host() {
  const BpfLog log;
  const std::unique_ptr<instance_lock_bpf, Skeleton> skeleton(instance_lock_bpf__open());
  if (skeleton == nullptr) return permission_error("look for other agents", errno);
  if (const int error = instance_lock_bpf__load(skeleton.get()); error != 0)
    return permission_error("look for other agents", -error);
  bpf_test_run_opts run{};
  run.sz = sizeof(run);
  if (bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.own_process), &run) != 0)
    return permission_error("find out the id of this process", errno);

  const std::string name = fmt::format("{}{}", VESTA_LOCK_PREFIX, run.retval);
  map_ =
      UniqueFd(bpf_map_create(BPF_MAP_TYPE_QUEUE, name.c_str(), 0, sizeof(uint32_t), 1, nullptr));
  if (!map_.valid()) return permission_error("take the lock of this host", errno);
  bpf_map_info info{};
  uint32_t bytes = sizeof(info);
  if (bpf_obj_get_info_by_fd(map_.get(), &info, &bytes) != 0)
    return permission_error("take the lock of this host", errno);
  VESTA_ASSIGN(const std::vector<vesta_lock> locks, list_locks(*skeleton));
  for (const vesta_lock& lock : locks) {
    if (lock.map_id >= info.id) continue;  // ours, or of one that came later and will see ours
    const std::string_view holder(lock.name, ::strnlen(lock.name, sizeof(lock.name)));
    map_.reset();
    return held("runs on this host",
                holder.substr(std::min(holder.size(), std::strlen(VESTA_LOCK_PREFIX))));
  }
  return {};
}

}  // namespace vesta::agent
