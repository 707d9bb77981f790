// Turns the stack traces of one chunk into stacks of the dictionary, each trace once. Refers to the
// chunk's constants. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id_index.h"
#include "formats/jfr/constants.h"
#include "formats/jfr/id_map.h"
#include "formats/jfr/reader.h"

namespace vesta::jfr {

struct ResolvedStack {
  StackId stack;
  bool truncated = false;  // by the recorder, or by the limit on depth
  bool missing = false;    // the event names a trace that the chunk does not hold
  bool decoded = false;
};

class StackResolver {
 public:
  StackResolver(Constants& constants, size_t max_depth, JavaNames names);

  // By id of the trace; 0 stands for "no stack".
  ResolvedStack resolve(int64_t id);

 private:
  struct FrameKey {
    int64_t method;
    int64_t line;
    int64_t frame_type;
    friend bool operator==(const FrameKey&, const FrameKey&) = default;
  };

  ResolvedStack decode(uint32_t position);
  LocationId location(const FrameKey& key);
  LocationId make_location(const FrameKey& key);

  Constants& constants_;
  size_t max_depth_;
  JavaNames names_;
  uint32_t trace_type_ = kNoType;
  uint32_t method_type_ = kNoType;
  uint32_t frame_type_type_ = kNoType;
  bool readable_ = false;
  FieldProgram before_frames_;
  FieldProgram frame_;
  FieldProgram after_frames_;
  FieldProgram method_;

  std::vector<ResolvedStack> known_;  // by position in the pool
  IdIndex location_index_;
  uint64_t secret_ = table_secret().start;
  std::vector<FrameKey> location_keys_;
  std::vector<LocationId> locations_;
  std::vector<LocationId> scratch_;
};

}  // namespace vesta::jfr
