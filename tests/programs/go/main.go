// Command burn does a known amount of work of one kind under Go's own profiler, writes the profile
// and prints as JSON what it did. With -profile server it serves net/http/pprof on a free loopback
// port, prints the port, burns in the background and ends when its standard input does.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

func main() {
	kind := flag.String("profile", "cpu", "cpu, heap, allocs, mutex, block, goroutine or server")
	out := flag.String("out", "", "file to write the profile to")
	duration := flag.Duration("duration", 2*time.Second, "how long to burn (cpu)")
	rounds := flag.Int("rounds", 0, "burn this many rounds instead of a duration (cpu)")
	slow := flag.Int("slow", 1, "multiply the work of medium (cpu)")
	flag.Parse()
	if err := run(*kind, *out, *duration, *rounds, *slow); err != nil {
		fmt.Fprintln(os.Stderr, "burn:", err)
		os.Exit(1)
	}
}

func run(kind, out string, duration time.Duration, rounds, slow int) error {
	if kind == "server" {
		return serve()
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()

	var result interface{}
	switch kind {
	case "cpu":
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		result = burn(duration, rounds, slow)
		pprof.StopCPUProfile()
	case "heap", "allocs":
		runtime.MemProfileRate = 1
		kept, memory := allocate()
		result = memory
		err = pprof.Lookup(kind).WriteTo(file, 0)
		runtime.KeepAlive(kept)
	case "mutex":
		runtime.SetMutexProfileFraction(1)
		result = contend(40)
		err = pprof.Lookup(kind).WriteTo(file, 0)
	case "block":
		runtime.SetBlockProfileRate(1)
		result = starve(40)
		err = pprof.Lookup(kind).WriteTo(file, 0)
	case "goroutine":
		result = park()
		err = pprof.Lookup(kind).WriteTo(file, 0)
	default:
		return fmt.Errorf("unknown profile %q", kind)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, nil)
	go burn(time.Hour, 0, 1)
	kept, _ := allocate()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	_, err = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(kept)
	return err
}
