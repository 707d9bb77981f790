#include <cstdlib>

#include "agent/process/proc_files.h"

// Any text parses within its bounds, and maps give the same whatever pieces they arrive in.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  vesta::agent::parse_proc_stat(text);
  vesta::agent::parse_proc_status(text);
  uint64_t whole = 0;
  const auto digest = [](uint64_t so_far, const vesta::agent::ProcMapping& mapping) {
    if (mapping.end <= mapping.start) std::abort();
    vesta::agent::unescape_maps_path(mapping.path);
    return so_far * 31 + mapping.start + mapping.end * 3 + mapping.path.size();
  };
  vesta::agent::MapsParser parser(
      [&](const vesta::agent::ProcMapping& mapping) { whole = digest(whole, mapping); });
  parser.feed(text);
  parser.finish();
  uint64_t pieces = 0;
  vesta::agent::MapsParser slow(
      [&](const vesta::agent::ProcMapping& mapping) { pieces = digest(pieces, mapping); });
  const size_t step = size == 0 ? 1 : 1 + data[0] % 7;
  for (size_t at = 0; at < size; at += step) slow.feed(text.substr(at, step));
  slow.finish();
  if (whole != pieces || parser.bad_lines() != slow.bad_lines()) std::abort();
  return 0;
}
