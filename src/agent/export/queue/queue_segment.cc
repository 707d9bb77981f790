#include "agent/export/queue/queue_segment.h"

#include <cstring>

#include "base/byte_cursor.h"
#include "base/hash.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kMarker = "\xF3VQR";
constexpr size_t kHashedHeadBytes = kRecordHeadBytes - sizeof(uint64_t);

template <class T>
void append(std::string& out, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  out.append(raw, sizeof(T));
}

// REQUIRES: kRecordHeadBytes of `bytes` from `at` on.
bool read_head(std::string_view bytes, size_t at, QueueRecordHead& head) {
  const std::string_view raw = bytes.substr(at, kRecordHeadBytes);
  ByteCursor cursor(raw, kMarker.size());
  head.payload_bytes = cursor.u32();
  head.profiles = cursor.u32();
  cursor.u32();  // not in use
  head.time = UnixNs(static_cast<int64_t>(cursor.u64()));
  head.payload_hash = cursor.u64();
  return cursor.u64() == hash64(raw.substr(0, kHashedHeadBytes)) &&
         head.payload_bytes <= kMaxPayloadBytes;
}

}  // namespace

std::string encode_record(uint32_t profiles, UnixNs time, std::string_view payload) {
  std::string out;
  out.reserve(kRecordHeadBytes + payload.size());
  out.append(kMarker);
  append(out, static_cast<uint32_t>(payload.size()));
  append(out, profiles);
  append(out, uint32_t{0});
  append(out, time.ns);
  append(out, hash64(payload));
  append(out, hash64(out));
  out.append(payload);
  return out;
}

FoundRecord find_record(std::string_view segment, size_t from, bool check_payload) {
  FoundRecord found;
  found.offset = found.next = segment.size();
  if (from < kSegmentMagic.size() && segment.starts_with(kSegmentMagic))
    from = kSegmentMagic.size();
  for (size_t at = from;; ++at) {
    at = segment.find(kMarker, at);
    if (at == std::string_view::npos || segment.size() - at < kRecordHeadBytes) break;
    if (!read_head(segment, at, found.head)) continue;
    const size_t payload_at = at + kRecordHeadBytes;
    found.skipped = at - from;
    found.offset = at;
    // A good head without its payload is the torn end of the file, or the file was cut.
    if (found.head.payload_bytes > segment.size() - payload_at) {
      found.next = segment.size();
      found.payload = {};
      found.state = FoundRecord::State::kDamaged;
      return found;
    }
    found.payload = segment.substr(payload_at, found.head.payload_bytes);
    found.next = payload_at + found.payload.size();
    const bool is_whole = !check_payload || hash64(found.payload) == found.head.payload_hash;
    found.state = is_whole ? FoundRecord::State::kWhole : FoundRecord::State::kDamaged;
    return found;
  }
  found.head = {};
  found.skipped = segment.size() > from ? segment.size() - from : 0;
  return found;
}

}  // namespace vesta::agent
