// Like ../victim.cc, in Go: walks at random through shapes of Go frames and writes, in the same format, what
// runtime.Callers says about the stack at the leaf of each walk, with registers and stack memory.
// Usage: unwind_go_victim COUNT
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unsafe"
)

type registers struct {
	ip, sp, bp, returnAddress, stackTop uint64
}

func oracleLeaf(out *registers)

var (
	output   = bufio.NewWriterSize(os.Stdout, 1<<20)
	random   = rand.New(rand.NewSource(7))
	sequence uint64
	sink     int
)

func words(values ...uint64) {
	for _, value := range values {
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], value)
		output.Write(bytes[:])
	}
}

// One address for each real frame, where several inlined calls may share one.
func realFrames(pcs []uintptr) []uint64 {
	var out []uint64
	frames := runtime.CallersFrames(pcs)
	isReal := true
	for i := range pcs {
		frame, _ := frames.Next()
		if isReal {
			out = append(out, uint64(pcs[i]))
		}
		isReal = frame.Func != nil
	}
	return out
}

//go:noinline
func takeStack() {
	var at registers
	var memory []byte
	pcs := make([]uintptr, 2000)
	pcs = pcs[:runtime.Callers(2, pcs)]
	frames := realFrames(pcs)
	// A stack may move while it grows, but not between these lines.
	memory = make([]byte, 4<<20)
	oracleLeaf(&at)
	size := int(at.stackTop - at.sp)
	for i := 0; i < size; i += 8 {
		*(*uint64)(unsafe.Pointer(&memory[i])) = *(*uint64)(unsafe.Pointer(uintptr(at.sp) + uintptr(i)))
	}
	binary.LittleEndian.PutUint64(memory, at.returnAddress)
	words(0x314b434154534556, sequence, at.ip, at.returnAddress)
	words(0, 0, 0, 0, 0, 0, at.bp, at.sp, 0, 0, 0, 0, 0, 0, 0, 0)
	words(uint64(len(frames)), 1)
	words(frames...)
	words(at.sp, uint64(size))
	output.Write(memory[:size])
	sequence++
}

type shape interface{ enter(depth int) int }
type round struct{ x int }
type square struct{ room [200]byte }

func (r *round) enter(depth int) int  { goOn(depth); return r.x }
func (s *square) enter(depth int) int { goOn(depth); return int(s.room[depth%200]) }

//go:noinline
func plain(depth int) { goOn(depth); sink++ }

//go:noinline
func big(depth int) {
	var room [5000]byte
	room[depth] = 1
	goOn(depth)
	sink += int(room[depth])
}

//go:noinline
func deferred(depth int) {
	defer func() { goOn(depth) }()
	sink++
}

//go:noinline
func panics(depth int) {
	defer func() {
		if recover() != nil {
			goOn(depth)
		}
	}()
	panic("known")
}

//go:noinline
func inPanic(depth int) {
	defer func() { recover() }()
	defer func() { goOn(depth) }()
	var none map[string]int
	none["a fault"] = depth
}

//go:noinline
func sorts(depth int) {
	numbers := random.Perm(30)
	gone := false
	sort.Slice(numbers, func(a, b int) bool {
		if !gone {
			gone = true
			goOn(depth)
		}
		return numbers[a] < numbers[b]
	})
}

//go:noinline
func reflects(depth int) {
	reflect.ValueOf(plain).Call([]reflect.Value{reflect.ValueOf(depth)})
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k, l int) int {
	goOn(a)
	return a + b*c + d*e + f*g + h*i + j*k + l
}

//go:noinline
func calls(depth int) {
	captured := depth
	f := func(x int) { goOn(captured); sink += x }
	f(1)
}

//go:noinline
func maps(depth int) {
	strings.Map(func(r rune) rune {
		if r == 'x' {
			goOn(depth)
		}
		return r
	}, "axb")
}

//go:noinline
func once(depth int) {
	var o sync.Once
	o.Do(func() { goOn(depth) })
}

func goOn(depth int) {
	if depth <= 0 {
		takeStack()
		return
	}
	next := depth - 1
	switch random.Intn(14) {
	case 0:
		big(next)
	case 1:
		deferred(next)
	case 2:
		panics(next)
	case 3:
		inPanic(next)
	case 4:
		sorts(next)
	case 5:
		reflects(next)
	case 6:
		sink += many(next, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	case 7:
		calls(next)
	case 8:
		var s shape = &round{depth}
		if random.Intn(2) == 0 {
			s = &square{}
		}
		sink += s.enter(next)
	case 9:
		maps(next)
	case 10:
		once(next)
	default:
		plain(next)
	}
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "unwind_go_victim: how many?")
		os.Exit(2)
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	for len(maps)%8 != 0 {
		maps = append(maps, '\n')
	}
	words(0x3143524f54534556, uint64(len(maps)))
	output.Write(maps)
	for i := 0; i < count; i++ {
		done := make(chan bool)
		go func() {
			goOn(random.Intn(40))
			done <- true
		}()
		<-done
	}
	goOn(20) // and once on the main goroutine
	output.Flush()
}
