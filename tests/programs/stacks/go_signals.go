// A thread that signals itself all the time, so that much of its time is spent in the runtime's signal handler. (A timer
// would not do: its signals come with the kernel's tick, and hardly one in a thousand samples would meet a handler.)
// Runs until it is killed.
package main

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

//go:noinline
func burn(seed uint32) uint32 {
	for i := 0; i < 1000; i++ {
		seed = seed*1103515245 + 12345
	}
	return seed
}

func main() {
	runtime.LockOSThread()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	process, thread := os.Getpid(), syscall.Gettid()
	sum := uint32(1)
	for {
		if err := syscall.Tgkill(process, thread, syscall.SIGUSR1); err != nil {
			panic(err)
		}
		sum = burn(sum)
	}
}
