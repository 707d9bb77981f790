// Any bytes as a segment of a queue: every walk over them ends, and stays inside.
#include <cstdlib>

#include "agent/export/queue/queue_segment.h"
#include "base/time.h"

using vesta::agent::find_record;
using vesta::agent::FoundRecord;

namespace {

void walk(std::string_view segment, bool check_payload) {
  size_t at = 0;
  while (true) {
    const FoundRecord found = find_record(segment, at, check_payload);
    if (found.state == FoundRecord::State::kEnd) return;
    if (found.next <= at || found.next > segment.size() || found.offset < at) std::abort();
    if (!found.payload.empty() &&
        (found.payload.data() < segment.data() || found.payload.end() > segment.end()))
      std::abort();
    at = found.next;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view segment(reinterpret_cast<const char*>(data), size);
  walk(segment, true);
  walk(segment, false);
  // What is appended to anything can still be read.
  std::string more(segment);
  more += vesta::agent::encode_record(3, vesta::UnixNs(7), segment.substr(0, size / 2));
  walk(more, true);
  return 0;
}
