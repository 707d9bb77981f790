// The threads of some processes as they are now, waiting or not: runs for each task of the host
// when user space reads the iterator's file.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "describe_thread.h"
#include "shared/thread.h"
#include "tasks.h"

// A record under construction; there is one reader.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct vesta_thread);
} thread_record SEC(".maps");

SEC("iter/task")
int write_thread(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;  // the end
  const __u32 tgid = vesta_process_of(task);
  if (tgid == 0 || vesta_target_kind(tgid) == 0) return 0;
  const __u32 zero = 0;
  struct vesta_thread* record = bpf_map_lookup_elem(&thread_record, &zero);
  if (!record) return 0;
  vesta_describe_thread(record, task, tgid);
  bpf_seq_write(context->meta->seq, record, sizeof(*record));
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
