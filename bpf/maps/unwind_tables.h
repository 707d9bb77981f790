// Maps that user space fills for the unwinder: mappings of processes, tables of modules. Declared
// here alone; every object that takes user stacks shares those of the session (see README.md).
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "shared/unwind_table.h"

// Sizes of 1 are set by the session before loading.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, __u32);  // tgid
  __type(value, struct vesta_process);
} processes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 1);
  __type(key, struct vesta_leaf_key);
  __type(value, struct vesta_mapping_leaf);
} mapping_leaves SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct vesta_module);
} modules SEC(".maps");

struct table_map {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  // Inner maps may differ in size, and are filled through a mapping rather than cell by cell.
  __uint(map_flags, BPF_F_INNER_MAP | BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} empty_table SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
  __uint(max_entries, 1);
  __type(key, __u32);
  __array(values, struct table_map);
} tables SEC(".maps");
