// The session that an object was loaded by: constants of src/agent/kernel/kernel_session.cc.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "shared/session.h"

const volatile struct vesta_session session SEC(".rodata.session") = {};
