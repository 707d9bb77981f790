package main

import (
	"context"
	"runtime/pprof"
	"time"
)

// mix is one xorshift step, small enough that the compiler inlines it.
func mix(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	return x
}

// The three burners have a loop each, so that flat time lands in them (and in mix, inlined into
// them) rather than in one shared function.

//go:noinline
func heavy(x uint64, scale int) uint64 {
	for i := 0; i < 150000*scale; i++ {
		x = mix(x)
	}
	return x
}

//go:noinline
func medium(x uint64, scale int) uint64 {
	for i := 0; i < 75000*scale; i++ {
		x = mix(x)
	}
	return x
}

//go:noinline
func light(x uint64, scale int) uint64 {
	for i := 0; i < 25000*scale; i++ {
		x = mix(x)
	}
	return x
}

type burnResult struct {
	ElapsedNs int64  `json:"elapsed_ns"`
	Rounds    int    `json:"rounds"`
	Checksum  uint64 `json:"checksum"`
}

// burn runs the burners at 60:30:10 in short rounds, so that a noisy machine disturbs all three
// alike, and of varying length, so that rounds do not fall into step with the sampling interval.
// Each runs under a label that names it. A system call between rounds would be where a busy machine
// switches programs, and so put rounds in step with slices of CPU time; there is none. It stops after
// rounds, or after the duration when rounds is 0; slow multiplies the work of medium alone.
func burn(duration time.Duration, rounds, slow int) burnResult {
	x := uint64(88172645463325252)
	under := func(name string, f func(uint64, int) uint64, scale int) {
		labels := pprof.Labels("phase", name, "team", "fire")
		pprof.Do(context.Background(), labels, func(context.Context) { x = f(x, scale) })
	}
	start := time.Now()
	n, dice := 0, uint64(2463534242)
	for ; (rounds > 0 && n < rounds) || (rounds == 0 && time.Since(start) < duration); n++ {
		dice = mix(dice)
		scale := 1 + int(dice%8)
		under("heavy", heavy, scale)
		under("medium", medium, scale*slow)
		under("light", light, scale)
	}
	return burnResult{time.Since(start).Nanoseconds(), n, x}
}
