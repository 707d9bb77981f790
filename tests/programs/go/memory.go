package main

import "runtime"

const (
	keptBlocks   = 48
	keptSize     = 64 << 10
	droppedCount = 96
	droppedSize  = 32 << 10
)

type memoryResult struct {
	KeptBytes      int64 `json:"kept_bytes"`
	KeptObjects    int64 `json:"kept_objects"`
	DroppedBytes   int64 `json:"dropped_bytes"`
	DroppedObjects int64 `json:"dropped_objects"`
}

var sink []byte

//go:noinline
func keepBlocks(kept [][]byte) {
	for i := range kept {
		kept[i] = make([]byte, keptSize)
	}
}

//go:noinline
func dropBlocks() {
	for i := 0; i < droppedCount; i++ {
		sink = make([]byte, droppedSize)
	}
	sink = nil
}

// allocate leaves keptBlocks alive and droppedCount dead. Sizes are exact allocator size classes,
// so that with a sampling rate of 1 the profile has these very bytes. The caller keeps the result
// alive until the profile is written; the profile shows the state at the last collection, and a
// block is only taken off one collection after it died, hence two of them.
func allocate() ([][]byte, memoryResult) {
	kept := make([][]byte, keptBlocks)
	keepBlocks(kept)
	dropBlocks()
	runtime.GC()
	runtime.GC()
	return kept, memoryResult{
		KeptBytes: keptBlocks * keptSize, KeptObjects: keptBlocks,
		DroppedBytes: droppedCount * droppedSize, DroppedObjects: droppedCount,
	}
}
