// Names for places in code of any kind: files, the kernel, memory that a compiler at run time
// wrote. Keeps what it opened, within a bound of bytes. One owner thread, which may wait for files;
// never the one that drains samples.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/recording/name_source.h"
#include "agent/recording/resolved_samples.h"
#include "symbols/kernel/kernel_symbols.h"
#include "symbols/module_symbols.h"
#include "symbols/perf_map/perf_map.h"
#include "symbols/source_frame.h"
#include "unwind/function_starts.h"

namespace vesta {

struct SymbolizerOptions {
  SymbolOptions symbols;
  uint64_t max_bytes =
      16ULL << 20;  // of open symbol tables; more are closed, least recently used first
};

class Symbolizer final : public NameSource {
 public:
  explicit Symbolizer(const SymbolizerOptions& options);

  void add_module(std::shared_ptr<const Module> module);
  void add_process(std::shared_ptr<const SampledProcess> process);
  void apply(const KernelSymbolChange& change);
  // The process has ended, and so has all that was its own.
  void forget_process(uint32_t index);
  // Modules that were neither told of nor asked about since the last call but one.
  void forget_idle_modules();
  // Closes all symbol tables; those that are needed are opened again.
  void close_modules();

  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) override;
  CodePlace place(const CodeAddress& address) override;
  FrameKind kind(const CodeAddress& address) const override;

  // Gives the memory of mapped files back until they are read again. For when nothing new has been
  // named for a while.
  void release_pages() const;

  // Why kernel frames have no names; empty when they have.
  const std::string& kernel_problem() const { return kernel_problem_; }

 private:
  struct OpenModule {
    std::shared_ptr<const Module> module;
    std::string build_id;                    // as a mapping carries it
    std::shared_ptr<ModuleSymbols> symbols;  // null while closed
    std::unique_ptr<FunctionStarts> starts;  // null until a name is missing
    bool is_unreadable = false;
    bool is_go = false;
    uint64_t last_use = 0;
    uint32_t last_round = 0;  // of forget_idle_modules()
  };

  bool symbolize_module(const CodeAddress& address, std::vector<SourceFrame>& frames);
  bool symbolize_kernel(uint64_t address, std::vector<SourceFrame>& frames);
  bool symbolize_anonymous(const CodeAddress& address, std::vector<SourceFrame>& frames);
  std::shared_ptr<ModuleSymbols> open_symbols(const Module& module,
                                              const std::shared_ptr<const ElfFile>& file) const;
  // Of code without a name: a frame for its function, called by where that begins.
  void add_place_name(OpenModule& entry, uint64_t address, std::vector<SourceFrame>& frames);
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
  uint32_t round_ = 0;
  std::string kernel_file_;  // scratch
  std::string place_name_;   // scratch
};

}  // namespace vesta
