#include "agent/export/queue/queue_position.h"

#include <array>
#include <cstring>

#include "base/byte_cursor.h"
#include "base/hash.h"

namespace vesta::agent {

std::string encode_position(const QueuePosition& position) {
  const std::array<uint64_t, 7> fields = {position.sequence,
                                          position.segment,
                                          position.offset,
                                          position.done,
                                          position.boot_id,
                                          static_cast<uint64_t>(position.boot_time.ns),
                                          static_cast<uint64_t>(position.age_time.ns)};
  std::string out(kPositionSlotBytes, '\0');
  std::memcpy(out.data(), fields.data(), sizeof(fields));
  const uint64_t hash = hash64(std::string_view(out).substr(0, sizeof(fields)));
  std::memcpy(out.data() + sizeof(fields), &hash, sizeof(hash));
  return out;
}

std::optional<QueuePosition> read_position(std::string_view file) {
  std::optional<QueuePosition> best;
  for (size_t slot = 0; slot < 2 && file.size() >= (slot + 1) * kPositionSlotBytes; ++slot) {
    const std::string_view raw = file.substr(slot * kPositionSlotBytes, kPositionSlotBytes);
    ByteCursor cursor(raw);
    QueuePosition position;
    position.sequence = cursor.u64();
    position.segment = cursor.u64();
    position.offset = cursor.u64();
    position.done = cursor.u64();
    position.boot_id = cursor.u64();
    position.boot_time = BootNs(static_cast<int64_t>(cursor.u64()));
    position.age_time = UnixNs(static_cast<int64_t>(cursor.u64()));
    const size_t hashed = cursor.offset();
    if (cursor.u64() != hash64(raw.substr(0, hashed))) continue;
    if (!best || position.sequence > best->sequence) best = position;
  }
  return best;
}

}  // namespace vesta::agent
