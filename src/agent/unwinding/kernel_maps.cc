#include "agent/unwinding/kernel_maps.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vesta::agent {
namespace {

Error map_error(std::string_view what, int error_number) {
  const bool full = error_number == E2BIG || error_number == ENOMEM || error_number == ENOSPC;
  return {full ? ErrorCode::kLimit : ErrorCode::kIo,
          fmt::format("cannot {}: {}", what, std::strerror(error_number)), ""};
}

// An inner map with the table's cells in it.
Result<UniqueFd> make_table(const UnwindTable& table) {
  bpf_map_create_opts options{};
  options.sz = sizeof(options);
  options.map_flags = BPF_F_INNER_MAP | BPF_F_MMAPABLE;
  UniqueFd fd(bpf_map_create(BPF_MAP_TYPE_ARRAY, "vesta_table", sizeof(uint32_t), sizeof(uint64_t),
                             static_cast<uint32_t>(table.cells.size()), &options));
  if (!fd.valid()) return map_error("create an unwind table in the kernel", errno);
  // A million cells one by one would take longer than building them.
  void* const mapped =
      ::mmap(nullptr, table.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return map_error("fill an unwind table in the kernel", errno);
  std::memcpy(mapped, table.cells.data(), table.bytes());
  ::munmap(mapped, table.bytes());
  return fd;
}

}  // namespace

Status KernelProcessMap::put(uint32_t pid, std::span<const vesta_mapping> mappings) const {
  mappings = mappings.first(std::min<size_t>(mappings.size(), VESTA_MAX_MAPPINGS));
  vesta_process process{};
  // Leaves first, then the root that leads to them. Each is replaced as a whole, so a reader in
  // between finds a mapping that is true, or none.
  for (size_t from = 0; from < mappings.size(); from += VESTA_MAPPINGS_PER_LEAF) {
    vesta_mapping_leaf leaf{};
    const auto part =
        mappings.subspan(from, std::min<size_t>(VESTA_MAPPINGS_PER_LEAF, mappings.size() - from));
    leaf.count = static_cast<uint32_t>(part.size());
    leaf.tgid = pid;
    std::ranges::copy(part, leaf.mappings);
    const vesta_leaf_key key{pid, process.leaf_count};
    if (bpf_map_update_elem(fds_.mapping_leaves, &key, &leaf, BPF_ANY) != 0)
      return map_error("store the mappings of a process in the kernel", errno);
    process.leaf_start[process.leaf_count++] = part.front().start;
  }
  if (bpf_map_update_elem(fds_.processes, &pid, &process, BPF_ANY) != 0)
    return map_error("store a process in the kernel", errno);
  return {};
}

void KernelProcessMap::drop(uint32_t pid, size_t mapping_count) const {
  bpf_map_delete_elem(fds_.processes, &pid);
  drop_leaves(pid, 0, mapping_count);
}

void KernelProcessMap::drop_leaves(uint32_t pid, size_t count, size_t old_count) const {
  const auto leaves = [](size_t mappings) {
    return static_cast<uint32_t>(
        (std::min<size_t>(mappings, VESTA_MAX_MAPPINGS) + VESTA_MAPPINGS_PER_LEAF - 1) /
        VESTA_MAPPINGS_PER_LEAF);
  };
  for (uint32_t leaf = leaves(count); leaf < leaves(old_count); ++leaf) {
    const vesta_leaf_key key{pid, leaf};
    bpf_map_delete_elem(fds_.mapping_leaves, &key);
  }
}

Status KernelTableMap::put(std::span<const Entry> entries) const {
  std::vector<UniqueFd> inner;
  std::vector<uint32_t> slots;
  std::vector<int> fds;
  for (const Entry& entry : entries) {
    VESTA_ASSIGN(UniqueFd fd, make_table(*entry.table));
    slots.push_back(entry.slot);
    fds.push_back(fd.get());
    inner.push_back(std::move(fd));
  }
  auto count = static_cast<uint32_t>(slots.size());
  if (count != 0 &&
      bpf_map_update_batch(fds_.tables, slots.data(), fds.data(), &count, nullptr) != 0) {
    // Kernels before 5.16 have no batches for maps of maps.
    for (size_t i = 0; i < slots.size(); ++i) {
      if (bpf_map_update_elem(fds_.tables, &slots[i], &fds[i], BPF_ANY) != 0)
        return map_error("hand an unwind table to the kernel", errno);
    }
  }
  for (const Entry& entry : entries) {
    vesta_module header = entry.table->header;
    header.state = VESTA_MODULE_LOADED;
    if (bpf_map_update_elem(fds_.modules, &entry.slot, &header, BPF_ANY) != 0)
      return map_error("announce an unwind table to the kernel", errno);
  }
  return {};
}

Status KernelTableMap::put_without_table(uint32_t slot) const {
  vesta_module header{};
  header.state = VESTA_MODULE_NO_TABLE;
  if (bpf_map_update_elem(fds_.modules, &slot, &header, BPF_ANY) != 0)
    return map_error("mark a module in the kernel", errno);
  return {};
}

void KernelTableMap::mark_absent(uint32_t slot) const {
  const vesta_module absent{};
  bpf_map_update_elem(fds_.modules, &slot, &absent, BPF_ANY);
}

void KernelTableMap::drop(uint32_t slot) const {
  mark_absent(slot);
  bpf_map_delete_elem(fds_.tables, &slot);
}

}  // namespace vesta::agent
