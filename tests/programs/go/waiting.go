package main

import (
	"sync"
	"time"
)

type waitResult struct {
	BlockedNs int64 `json:"blocked_ns"`
	Waits     int   `json:"waits"`
}

// holdAndRelease keeps the lock for a while; the mutex profile blames its Unlock.
//
//go:noinline
func holdAndRelease(mu *sync.Mutex, held chan<- struct{}) {
	mu.Lock()
	held <- struct{}{}
	time.Sleep(20 * time.Millisecond)
	mu.Unlock()
}

//go:noinline
func waitForLock(mu *sync.Mutex) time.Duration {
	start := time.Now()
	mu.Lock()
	waited := time.Since(start)
	mu.Unlock()
	return waited
}

// contend makes exactly one goroutine wait at a time: with more, old and new Go releases disagree
// on whose wait an Unlock is charged with.
func contend(rounds int) waitResult {
	var mu sync.Mutex
	var total time.Duration
	for i := 0; i < rounds; i++ {
		held := make(chan struct{})
		go holdAndRelease(&mu, held)
		<-held
		total += waitForLock(&mu)
	}
	return waitResult{total.Nanoseconds(), rounds}
}

//go:noinline
func receiveSlowly(c <-chan struct{}) time.Duration {
	start := time.Now()
	<-c
	return time.Since(start)
}

// starve waits on a channel that is fed every 20 ms.
func starve(rounds int) waitResult {
	c := make(chan struct{})
	go func() {
		for i := 0; i < rounds; i++ {
			time.Sleep(20 * time.Millisecond)
			c <- struct{}{}
		}
	}()
	var total time.Duration
	for i := 0; i < rounds; i++ {
		total += receiveSlowly(c)
	}
	return waitResult{total.Nanoseconds(), rounds}
}

const parkedGoroutines = 37

type parkResult struct {
	Parked int `json:"parked"`
}

//go:noinline
func parkHere(started *sync.WaitGroup, c <-chan struct{}) {
	started.Done()
	<-c
}

// park returns when all goroutines have at least entered parkHere.
func park() parkResult {
	var started sync.WaitGroup
	started.Add(parkedGoroutines)
	c := make(chan struct{})
	for i := 0; i < parkedGoroutines; i++ {
		go parkHere(&started, c)
	}
	started.Wait()
	return parkResult{parkedGoroutines}
}
