// What bpf/instance_lock.bpf.c tells about each lock that it finds.
#pragma once

#include "shared/types.h"

enum { VESTA_LOCK_NAME_BYTES = 16 };  // BPF_OBJ_NAME_LEN

// Names of locks: the prefix, then the holder's process id as the host numbers it.
#define VESTA_LOCK_PREFIX "vesta."

struct vesta_lock {
  __u32 map_id;
  char name[VESTA_LOCK_NAME_BYTES];
};
VESTA_STATIC_ASSERT(sizeof(struct vesta_lock) == 20, "no hidden padding");
