#include "agent/probes/block/block_view.h"

#include <fmt/format.h>

#include <algorithm>

#include <shared/off_cpu.h>

namespace vesta::agent {
namespace {

constexpr std::array<std::string_view, 1> kNeeds = {"off-cpu"};

struct Syscall {
  uint16_t number;
  std::string_view name;
  // Whatever it waits for is input or output, so it is even if the kernel's functions have no names.
  bool is_io = false;
};

// Those of x86-64 that wait for files, sockets, pipes, terminals and devices.
constexpr auto kSyscalls = std::to_array<Syscall>({
    {0, "read", true},
    {1, "write", true},
    {2, "open"},
    {3, "close"},
    {4, "stat"},
    {5, "fstat"},
    {6, "lstat"},
    {16, "ioctl"},
    {17, "pread64", true},
    {18, "pwrite64", true},
    {19, "readv", true},
    {20, "writev", true},
    {21, "access"},
    {26, "msync", true},
    {40, "sendfile", true},
    {42, "connect", true},
    {43, "accept"},
    {44, "sendto", true},
    {45, "recvfrom", true},
    {46, "sendmsg", true},
    {47, "recvmsg", true},
    {72, "fcntl"},
    {73, "flock", true},
    {74, "fsync", true},
    {75, "fdatasync", true},
    {76, "truncate"},
    {77, "ftruncate"},
    {78, "getdents"},
    {82, "rename"},
    {83, "mkdir"},
    {84, "rmdir"},
    {85, "creat"},
    {86, "link"},
    {87, "unlink"},
    {88, "symlink"},
    {89, "readlink"},
    {162, "sync", true},
    {187, "readahead", true},
    {217, "getdents64"},
    {257, "openat"},
    {258, "mkdirat"},
    {262, "newfstatat"},
    {263, "unlinkat"},
    {264, "renameat"},
    {267, "readlinkat"},
    {275, "splice", true},
    {276, "tee", true},
    {277, "sync_file_range", true},
    {278, "vmsplice", true},
    {285, "fallocate"},
    {288, "accept4"},
    {295, "preadv", true},
    {296, "pwritev", true},
    {299, "recvmmsg", true},
    {306, "syncfs", true},
    {307, "sendmmsg", true},
    {316, "renameat2"},
    {326, "copy_file_range", true},
    {327, "preadv2", true},
    {328, "pwritev2", true},
    {332, "statx"},
    {437, "openat2"},
});

// A thread in these waits for somebody to come, not for an answer.
constexpr std::array<std::string_view, 2> kAccepting = {"accept", "accept4"};

constexpr std::array<std::string_view, 5> kReasons = {"disk", "network", "pipe", "file lock",
                                                      "terminal"};

const Syscall* find_syscall(uint64_t number) {
  const auto* const at = std::ranges::find(kSyscalls, number, &Syscall::number);
  return at == kSyscalls.end() ? nullptr : &*at;
}

std::optional<std::string> blocked_in(const NamedEvent& event) {
  const uint64_t number = event.detail & VESTA_WAIT_NO_SYSCALL;
  if (number == VESTA_WAIT_NO_SYSCALL) return std::nullopt;
  const Syscall* const syscall = find_syscall(number);
  const bool is_known_io = event.cause == "other" && syscall != nullptr && syscall->is_io;
  if (!is_known_io && std::ranges::find(kReasons, event.cause) == kReasons.end())
    return std::nullopt;
  std::string name = syscall_name(number);
  if (std::ranges::find(kAccepting, name) != kAccepting.end()) return std::nullopt;
  return name;
}

}  // namespace

std::string syscall_name(uint64_t number) {
  const Syscall* const known = find_syscall(number);
  return known != nullptr ? std::string(known->name) : fmt::format("syscall {}", number);
}

const ProbeView kBlockView = {.needs = kNeeds, .label = "syscall", .part_of = blocked_in};

}  // namespace vesta::agent
