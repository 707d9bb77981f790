#include "agent/dump/stack_namer.h"

#include <fmt/format.h>

#include "base/text.h"
#include "profile/frame_name.h"

namespace vesta::agent {

void StackNamer::learn(const ResolvedSamples& samples) {
  for (const auto& module : samples.modules) symbolizer_.add_module(module);
  for (const auto& process : samples.processes) symbolizer_.add_process(process);
  for (const RuntimeSampleFrame& frame : samples.runtime_frames)
    symbolizer_.add_runtime_frame(frame);
  for (const KernelSymbolChange& change : samples.kernel_symbols) symbolizer_.apply(change);
}

std::vector<DumpFrame> StackNamer::name(std::span<const CodeAddress> frames) {
  std::vector<DumpFrame> out;
  for (const CodeAddress& address : frames) {
    const bool is_kernel = address.kind == CodeAddress::Kind::kKernel;
    const std::string binary(symbolizer_.place(address).file);
    source_.clear();
    if (!symbolizer_.symbolize(address, source_) || source_.empty()) {
      std::string place = binary.empty()
                              ? fmt::format("{:#x}", address.address)
                              : fmt::format("{}+{:#x}", base_name(binary), address.address);
      out.push_back({std::move(place), "", 0, binary, false, is_kernel});
      continue;
    }
    for (size_t i = 0; i < source_.size(); ++i) {
      const SourceFrame& frame = source_[i];
      out.push_back({std::string(frame.name), std::string(frame.file), frame.line, binary,
                     i + 1 < source_.size(), is_kernel});
    }
  }
  return out;
}

}  // namespace vesta::agent
