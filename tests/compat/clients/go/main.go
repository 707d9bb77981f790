// Burns CPU under the Pyroscope SDK for Go, then flushes and leaves. Prints the CPU time it used.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"

	"github.com/grafana/pyroscope-go"
	"github.com/grafana/pyroscope-go/godeltaprof"
)

var sink uint64
var kept [][]byte

//go:noinline
func spin(until time.Time) {
	for time.Now().Before(until) {
		for i := uint64(0); i < 100000; i++ {
			sink = sink*31 + i
		}
	}
}

//go:noinline
func heavy(until time.Time) { spin(until) }

//go:noinline
func light(until time.Time) { spin(until) }

//go:noinline
func keepBlocks() {
	for i := 0; i < 64; i++ {
		kept = append(kept, make([]byte, 1<<20))
	}
}

//go:noinline
func contend() {
	var lock sync.Mutex
	var group sync.WaitGroup
	for worker := 0; worker < 2; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 50; i++ {
				lock.Lock()
				time.Sleep(time.Millisecond)
				lock.Unlock()
			}
		}()
	}
	group.Wait()
}

// Writes heap profiles into a folder: two differences of godeltaprof, and the one of Go's runtime, which is their sum. Prints how
// much each of the differences is about.
func writeHeaps(folder string) {
	profiler := godeltaprof.NewHeapProfiler()
	write := func(name string, profile func(io.Writer) error) {
		var out bytes.Buffer
		runtime.GC()
		if err := profile(&out); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), out.Bytes(), 0o644); err != nil {
			panic(err)
		}
	}
	write("before", profiler.Profile)
	keepBlocks()
	keepBlocks()
	write("delta1", profiler.Profile)
	keepBlocks()
	write("delta2", profiler.Profile)
	write("heap", pprof.WriteHeapProfile)
	fmt.Println("{\"first_bytes\": 134217728, \"second_bytes\": 67108864}")
}

func main() {
	runtime.MemProfileRate = 4096
	if os.Args[1] == "heaps" {
		writeHeaps(os.Args[2])
		return
	}
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	profiler, err := pyroscope.Start(pyroscope.Config{
		ApplicationName: "compat.go",
		ServerAddress:   os.Args[1],
		AuthToken:       os.Getenv("VESTA_TOKEN"),
		Tags:            map[string]string{"region": "north"},
		UploadRate:      2 * time.Second,
		ProfileTypes: []pyroscope.ProfileType{
			pyroscope.ProfileCPU, pyroscope.ProfileAllocObjects, pyroscope.ProfileAllocSpace,
			pyroscope.ProfileInuseObjects, pyroscope.ProfileInuseSpace, pyroscope.ProfileGoroutines,
			pyroscope.ProfileMutexCount, pyroscope.ProfileMutexDuration, pyroscope.ProfileBlockCount,
			pyroscope.ProfileBlockDuration,
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	keepBlocks()
	contend()
	start := time.Now()
	for time.Since(start) < 5*time.Second {
		pyroscope.TagWrapper(context.Background(), pyroscope.Labels("path", "/heavy"), func(context.Context) {
			heavy(time.Now().Add(300 * time.Millisecond))
		})
		pyroscope.TagWrapper(context.Background(), pyroscope.Labels("path", "/light"), func(context.Context) {
			light(time.Now().Add(100 * time.Millisecond))
		})
	}
	profiler.Flush(true)
	if err := profiler.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	fmt.Printf("{\"cpu_ns\": %d, \"kept_bytes\": %d}\n", usage.Utime.Nano()+usage.Stime.Nano(), len(kept)<<20)
}
