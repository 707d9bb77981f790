#include <cstdlib>

#include "agent/jfr/shipped_files.h"

// Any line is a note or none; with a true checksum in front of it, what is read is written back the
// same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)vesta::agent::parse_note(text);
  char checksum[18];
  std::snprintf(checksum, sizeof(checksum), "%016lx ", vesta::hash64(text));
  const auto note = vesta::agent::parse_note(checksum + text);
  if (!note) return 0;
  const std::string line = vesta::agent::note_line(note->path, note->file ? &*note->file : nullptr);
  const auto again = vesta::agent::parse_note(std::string_view(line).substr(0, line.size() - 1));
  if (!again && line.size() < 8000) std::abort();
  if (again && (again->path != note->path || again->file != note->file)) std::abort();
  return 0;
}
