// Where names for places in code come from. One owner thread.
#pragma once

#include <string_view>
#include <vector>

#include "agent/stream/resolved_samples.h"
#include "profile/dictionary.h"
#include "symbols/source_frame.h"

namespace vesta::agent {

// The binary around an address, as a profile notes it: as if it were loaded at its own addresses.
struct CodePlace {
  std::string_view file;  // empty when there is none
  std::string_view build_id;
  uint64_t start = 0;
  uint64_t limit = 0;
  uint64_t file_offset = 0;
};

class NameSource {
 public:
  NameSource() = default;
  virtual ~NameSource() = default;
  NameSource(const NameSource&) = delete;
  NameSource& operator=(const NameSource&) = delete;

  // Appends frames, innermost first; false when nothing is known. Views live until the next call.
  virtual bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) = 0;
  // Views live until the next call.
  virtual CodePlace place(const CodeAddress& address) = 0;
  virtual FrameKind kind(const CodeAddress& address) const = 0;

  // A source for which looking up takes time may do it for many places at once, in the order that
  // suits it.
  virtual void learn(std::vector<CodeAddress>& /*addresses*/) {}
  // And may give up at some time (CLOCK_MONOTONIC): what it does not know by then has no name.
  virtual void set_deadline(uint64_t /*time_ns*/) {}
  // Places that were asked for and not looked up, so far, because it was too late.
  virtual uint64_t too_late() const { return 0; }
};

}  // namespace vesta::agent
