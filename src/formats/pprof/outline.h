// The first walk over a pprof file: where its messages are, its strings, and the plain fields of
// the profile itself. Messages refer to strings that usually come last, so they are decoded only
// afterwards. Holds offsets into bytes that the caller owns.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/string_table.h"

namespace vesta::pprof {

// Strings that had to be changed on the way in.
struct StringRepairs {
  uint64_t truncated = 0;
  uint64_t invalid_utf8 = 0;
};

// A number and where it stands, for errors that can only be found later.
struct Placed {
  uint64_t value = 0;
  uint32_t offset = 0;
};

struct Outline {
  // Where the fields start, tag included.
  std::vector<uint32_t> sample_types;
  std::vector<uint32_t> mappings;
  std::vector<uint32_t> functions;
  std::vector<uint32_t> locations;
  std::vector<uint32_t> period_types;  // the last one counts
  std::vector<uint32_t> comments;      // packed or not
  // All samples are between these; other fields may be too.
  size_t samples_begin = 0;
  size_t samples_end = 0;
  size_t sample_count = 0;
  size_t sample_bytes = 0;

  Placed drop_frames;
  Placed keep_frames;
  Placed default_sample_type;
  Placed doc_url;
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  int64_t period = 0;

  StringRepairs repairs;
};

// Adds the file's strings to `strings`, which must be new, so that their indices are their ids.
Result<Outline> outline_of(std::string_view bytes, const ReadOptions& options,
                           StringTable& strings);

// Errors of all parts of the reader.
Error malformed(size_t offset, std::string_view what, std::string_view hint = {});

}  // namespace vesta::pprof
