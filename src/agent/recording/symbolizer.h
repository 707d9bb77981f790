// Names for places in code of any kind: files, the kernel, memory that a compiler at run time
// wrote. Keeps what it opened, within a bound of bytes. One owner thread, which may wait for files;
// never the one that drains samples.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/recording/resolved_samples.h"
#include "profile/dictionary.h"
#include "symbols/kernel/kernel_symbols.h"
#include "symbols/module_symbols.h"
#include "symbols/perf_map/perf_map.h"
#include "symbols/source_frame.h"

namespace vesta {

struct SymbolizerOptions {
  SymbolOptions symbols;
  uint64_t max_bytes =
      16ULL << 20;  // of open symbol tables; more are closed, least recently used first
};

// The binary around an address, as a profile notes it: as if it were loaded at its own addresses.
struct CodePlace {
  std::string_view file;  // empty when there is none
  std::string_view build_id;
  uint64_t start = 0;
  uint64_t limit = 0;
  uint64_t file_offset = 0;
};

class Symbolizer {
 public:
  explicit Symbolizer(const SymbolizerOptions& options);

  void add_module(std::shared_ptr<const Module> module);
  void add_process(std::shared_ptr<const SampledProcess> process);
  void apply(const KernelSymbolChange& change);

  // Appends frames, innermost first; false when nothing is known. Views live until the next call.
  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames);
  // Views live until the next call.
  CodePlace place(const CodeAddress& address);
  FrameKind kind(const CodeAddress& address) const;

  // Gives the memory of mapped files back until they are read again. For when nothing new has been
  // named for a while.
  void release_pages() const;

  // Why kernel frames have no names; empty when they have.
  const std::string& kernel_problem() const { return kernel_problem_; }

 private:
  struct OpenModule {
    std::shared_ptr<const Module> module;
    std::string build_id;                    // in hexadecimal
    std::shared_ptr<ModuleSymbols> symbols;  // null while closed
    bool is_unreadable = false;
    bool is_go = false;
    uint64_t last_use = 0;
  };

  bool symbolize_module(const CodeAddress& address, std::vector<SourceFrame>& frames);
  bool symbolize_kernel(uint64_t address, std::vector<SourceFrame>& frames);
  bool symbolize_anonymous(const CodeAddress& address, std::vector<SourceFrame>& frames);
  std::shared_ptr<ModuleSymbols> open_symbols(const Module& module,
                                              const std::shared_ptr<const ElfFile>& file) const;
  void close_old_modules(uint32_t keep);

  const SymbolizerOptions options_;
  SymbolOptions host_symbols_;  // for files that are where we see them, too
  UniqueFd own_root_;
  std::unordered_map<uint32_t, OpenModule> modules_;
  std::unordered_map<uint32_t, std::shared_ptr<const SampledProcess>> processes_;
  std::unordered_map<uint32_t, std::unique_ptr<PerfMap>> perf_maps_;
  std::unique_ptr<KernelSymbols> kernel_;
  std::string kernel_problem_;
  uint64_t use_clock_ = 0;
  std::string kernel_file_;  // scratch
};

}  // namespace vesta
