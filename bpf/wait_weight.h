// Which waits become samples, and what each of those stands for. Plain C on plain data: also compiled
// for user space, by the test that simulates it.
#pragma once

#include "shared/types.h"

// Which waits are sampled, and with which weights. The waits of a thread that are shorter than theta
// are laid end to end and divided into stretches of theta, and the wait is taken that a point meets
// which is chosen by chance in each stretch. It stands for theta. So a wait of d is taken with
// probability d / theta and stands for d in the mean, whatever theta is, the sum of a thread is never
// off by more than theta, and nothing runs in step. Longer waits are all taken, and stand for
// themselves.
struct vesta_stretch {
  __u64 theta_ns;  // 0: none yet
  __u64 at_ns;     // so far
  __u64 point_ns;
};

// Evenly distributed over all 64 bits; whoever includes this says how.
static __u64 vesta_random(void);

// A stretch of that length, if it is not one already: one that ends early loses nothing, because what
// came before had its chance.
static inline void vesta_begin_stretch(struct vesta_stretch* stretch, __u64 theta_ns) {
  if (stretch->theta_ns == theta_ns) return;
  stretch->theta_ns = theta_ns;
  stretch->at_ns = 0;
  stretch->point_ns = vesta_random() % theta_ns;
}

// The nanoseconds that a wait (or a part of one) of `ns` stands for; 0: it is not taken. REQUIRES:
// theta_ns is not 0.
static inline __u64 vesta_wait_weight(struct vesta_stretch* stretch, __u64 ns, __u64 theta_ns) {
  if (ns >= theta_ns) return ns;
  vesta_begin_stretch(stretch, theta_ns);
  const __u64 at = stretch->at_ns;
  __u64 end = at + ns;
  __u64 weight = stretch->point_ns >= at && stretch->point_ns < end ? theta_ns : 0;
  if (end >= theta_ns) {
    end -= theta_ns;
    stretch->point_ns = vesta_random() % theta_ns;
    if (stretch->point_ns < end) weight += theta_ns;
  }
  stretch->at_ns = end;
  return weight;
}

// The number of waits that one of `ns` stands for, which was taken with that weight: weight / ns,
// rounded up or down by chance so that the mean is right. REQUIRES: ns is not 0.
static inline __u64 vesta_wait_count(__u64 ns, __u64 weight) {
  const __u64 rest = weight % ns;
  return weight / ns + (rest && vesta_random() % ns < rest ? 1 : 0);
}

// Whether a wait that has yet to come will probably be taken, should it last up to so many times
// what is expected of it: for stacks that must be taken before. A wait that is longer still is taken
// without its stack.
#define VESTA_EXPECTED_TIMES 8

static inline int vesta_may_be_taken(struct vesta_stretch* stretch, __u64 expected_ns,
                                     __u64 theta_ns) {
  if (!expected_ns) return 1;
  vesta_begin_stretch(stretch, theta_ns);
  const __u64 at = stretch->at_ns;
  const __u64 next = stretch->point_ns >= at ? stretch->point_ns : theta_ns;
  return next - at < expected_ns * VESTA_EXPECTED_TIMES;
}

// A moving average, of which the last value is one part in 2^shift. 0: nothing is known yet.
static inline __u64 vesta_expect(__u64 before_ns, __u64 ns, __u32 shift) {
  const __u64 next = before_ns ? before_ns - (before_ns >> shift) + (ns >> shift) : ns;
  return next ? next : 1;
}
