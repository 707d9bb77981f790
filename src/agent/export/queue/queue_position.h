// How far a queue has been read, in a file of two slots that are written in turn: one is whole at
// any moment. Pure functions; README.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace vesta::agent {

struct QueuePosition {
  uint64_t sequence = 0;  // the higher one counts
  uint64_t segment = 0;
  uint64_t offset = 0;
  uint64_t done = 0;  // profiles of the record there
  // When this was written, by the queue's clock and by the machine's; see DiskQueue.
  uint64_t boot_id = 0;
  BootNs boot_time;
  UnixNs age_time;
};

inline constexpr size_t kPositionSlotBytes = 64;

std::string encode_position(const QueuePosition& position);
// The newest of the whole slots; none when there is none.
std::optional<QueuePosition> read_position(std::string_view file);

}  // namespace vesta::agent
