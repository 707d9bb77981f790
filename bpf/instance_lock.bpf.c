// Finds the locks that agents hold on this host: maps with a telling name. Walks over all maps of
// the kernel, whatever namespaces their owners live in.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "shared/instance_lock.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_map {
  enum bpf_map_type map_type;
  __u32 id;
  char name[VESTA_LOCK_NAME_BYTES];
};

struct seq_file;

struct bpf_iter_meta {
  struct seq_file* seq;
};

struct bpf_iter__bpf_map {
  struct bpf_iter_meta* meta;
  struct bpf_map* map;
};

#pragma clang attribute pop

SEC("iter/bpf_map")
int list_locks(struct bpf_iter__bpf_map* context) {
  struct bpf_map* map = context->map;
  // Maps of other kinds anyone may create where unprivileged BPF is allowed; a queue needs CAP_BPF.
  if (!map || BPF_CORE_READ(map, map_type) != BPF_MAP_TYPE_QUEUE) return 0;
  struct vesta_lock lock = {};
  lock.map_id = BPF_CORE_READ(map, id);
  BPF_CORE_READ_STR_INTO(&lock.name, map, name);
  const char prefix[] = VESTA_LOCK_PREFIX;
  for (__u32 i = 0; i + 1 < sizeof(prefix); ++i)
    if (lock.name[i] != prefix[i]) return 0;
  bpf_seq_write(context->meta->seq, &lock, sizeof(lock));
  return 0;
}

// The caller's process id in the outermost namespace.
SEC("syscall")
int own_process(void* unused) {
  (void)unused;
  return (int)(bpf_get_current_pid_tgid() >> 32);
}

char LICENSE[] SEC("license") = "GPL";
