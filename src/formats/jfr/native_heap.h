// Native allocations that nobody freed while the recording ran, from malloc and free events that
// come in any order. Owns what it collected. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/jfr/families.h"

namespace vesta::jfr {

class NativeHeap {
 public:
  void add_malloc(uint64_t address, int64_t time_ns, int64_t bytes, StackId stack,
                  LabelSetId labels) {
    events_.push_back({address, time_ns, bytes, stack, labels, false});
  }
  void add_free(uint64_t address, int64_t time_ns) {
    events_.push_back({address, time_ns, 0, {}, {}, true});
    has_frees_ = true;
  }

  // Adds what is in use at the end. Nothing when the recording has no frees at all: then they were
  // switched off, and everything would look like a leak.
  void finish(Families& families, bool keep_timestamps);

 private:
  struct Event {
    uint64_t address;
    int64_t time_ns;
    int64_t bytes;
    StackId stack;
    LabelSetId labels;
    bool is_free;
  };
  std::vector<Event> events_;
  bool has_frees_ = false;
};

}  // namespace vesta::jfr
