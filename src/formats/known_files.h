// Files of other tools that Vesta does not read: what they are, by their first bytes, and the
// command that makes of them something that it does read. One table in known_files.cc; pure
// functions.
#pragma once

#include <span>
#include <string_view>

namespace vesta {

struct KnownFile {
  std::string_view name;  // "a perf.data file"
  // What to do about it, with FILE for the file and BINARY for the program that was profiled; the
  // commands are tried by tests/compat/test_known_files.py.
  std::string_view hint;
  bool (*recognise)(std::string_view bytes);
};

std::span<const KnownFile> known_files();

// Null for anything else. Looks at the head only; the bytes are not packed.
const KnownFile* find_known_file(std::string_view bytes);

}  // namespace vesta
