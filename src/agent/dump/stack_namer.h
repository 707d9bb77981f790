// Names the frames of stacks, for people to read one by one. Not thread-safe; may wait for files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/naming/symbolizer.h"
#include "agent/stream/resolved_samples.h"

namespace vesta::agent {

struct DumpFrame {
  std::string function;  // or what is known of the place: "libfoo.so+0x1234", "0x7f001234"
  std::string file;      // empty when not known
  uint32_t line = 0;
  std::string binary;       // path; empty for code without a file
  bool is_inlined = false;  // into the frame that follows
  bool is_kernel = false;
};

class StackNamer {
 public:
  explicit StackNamer(const SymbolizerOptions& options) : symbolizer_(options) {}

  // What came with the samples, before their frames can be named.
  void learn(const ResolvedSamples& samples);
  // Innermost first.
  std::vector<DumpFrame> name(std::span<const CodeAddress> frames);
  const std::string& kernel_problem() const { return symbolizer_.kernel_problem(); }

 private:
  Symbolizer symbolizer_;
  std::vector<SourceFrame> source_;  // scratch
};

}  // namespace vesta::agent
