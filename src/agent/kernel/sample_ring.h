// The records that programs with bpf/send_sample.h send, with the pieces of deep stacks put back
// to the record they belong to. Maps the ring of a loaded program. One owner thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <shared/sample.h>
#include "base/result.h"

struct ring_buffer;

namespace vesta::agent {

// More of a deep stack than fits into a record.
struct StackPiece {
  uint64_t time_ns = 0;  // of its sample
  uint64_t address = 0;
  std::vector<char> bytes;
};

// One record, checked: the parts lie inside it. Views into the ring, valid during the callback.
struct SampleRecord {
  const vesta_sample& head;
  std::span<const uint64_t> kernel_frames;  // leaf first
  std::span<const uint64_t> user_frames;    // leaf first, VESTA_FRAME_EXACT on top
  std::span<const uint64_t> registers;      // empty, or VESTA_LEAF_REGISTERS
  std::span<const char> stack;              // from head.resume.sp - head.stack_below on
  std::span<const StackPiece> more_stack;
};

// Parts of a record as it came out of the ring; false when they do not fit into it.
bool parse_sample(std::span<const char> bytes, std::span<const StackPiece> more_stack,
                  const std::function<void(const SampleRecord&)>& use);

class SampleRing {
 public:
  // `map_fd` is that of the map `samples`, and must stay open.
  static Result<std::unique_ptr<SampleRing>> open(int map_fd);
  ~SampleRing();
  SampleRing(const SampleRing&) = delete;
  SampleRing& operator=(const SampleRing&) = delete;

  // Becomes readable when the ring fills up faster than it is drained.
  int fd() const;
  // All records there are. Damaged ones are counted, not shown.
  Status drain(const std::function<void(const SampleRecord&)>& use);
  uint64_t damaged_records() const { return damaged_records_; }

 private:
  struct Free {
    void operator()(ring_buffer* ring) const;
  };

  SampleRing() = default;
  static int on_record(void* context, void* data, size_t size);
  bool take_record(std::span<const char> bytes);

  std::unique_ptr<ring_buffer, Free> ring_;
  const std::function<void(const SampleRecord&)>* use_ = nullptr;  // during drain()
  std::map<uint32_t, std::vector<StackPiece>> pieces_;  // by CPU, for the record that comes next
  uint64_t damaged_records_ = 0;
};

}  // namespace vesta::agent
