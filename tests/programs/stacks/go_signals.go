// All time is spent in handlers of signals: SIGPROF of the runtime's own profiler, very often. Runs until it is killed.
package main

import (
	"io"
	"runtime"
	"runtime/pprof"
)

//go:noinline
func burn(seed uint32) uint32 {
	for i := 0; i < 1000000; i++ {
		seed = seed*1103515245 + 12345
	}
	return seed
}

func main() {
	runtime.SetCPUProfileRate(5000)
	pprof.StartCPUProfile(io.Discard)
	sum := uint32(1)
	for {
		sum = burn(sum)
	}
}
