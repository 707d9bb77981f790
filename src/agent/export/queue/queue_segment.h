// One file of a queue: records one after the other, each with checksums of its head and of its
// payload, so that a reader can tell whole records from torn and damaged ones and find its way past
// those. Pure functions over bytes that nobody vouches for; README.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace vesta::agent {

inline constexpr std::string_view kSegmentMagic = "vestaq1\n";
inline constexpr size_t kRecordHeadBytes = 40;
// Far above any payload: a length beyond it is damage.
inline constexpr uint64_t kMaxPayloadBytes = uint64_t{1} << 30;

struct QueueRecordHead {
  uint32_t payload_bytes = 0;
  uint32_t profiles = 0;
  UnixNs time;  // of the queue's own clock, see DiskQueue
  uint64_t payload_hash = 0;
};

// Head and payload.
std::string encode_record(uint32_t profiles, UnixNs time, std::string_view payload);

struct FoundRecord {
  enum class State : uint8_t {
    kWhole,
    kDamaged,  // the head is good, the payload is not
    kEnd,      // nothing that can be read comes after `offset`
  };
  State state = State::kEnd;
  size_t offset = 0;         // where the record begins
  size_t next = 0;           // where the one after it would
  size_t skipped = 0;        // bytes before it that are no record
  QueueRecordHead head;      // of kWhole and kDamaged
  std::string_view payload;  // the same; unchecked unless `check_payload` was asked for
};

// The first record at or after `from`. Without `check_payload` only the head is looked at, and
// whether all of the payload is there.
FoundRecord find_record(std::string_view segment, size_t from, bool check_payload);

}  // namespace vesta::agent
