// Names for places in code of any kind: files, the kernel, what runtimes know (src/runtimes). Keeps
// open what is in use, within a budget of bytes (TableBudget). One owner thread, which may wait for
// files; never the one that drains samples.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/naming/name_source.h"
#include "agent/naming/table_budget.h"
#include "agent/stream/resolved_samples.h"
#include "runtimes/runtime_table.h"
#include "symbols/kernel/kernel_symbols.h"
#include "symbols/module_symbols.h"
#include "symbols/source_frame.h"
#include "unwind/function_starts.h"

namespace vesta::agent {

struct SymbolizerOptions {
  SymbolOptions symbols;
  // Of open symbol tables; what is used least is closed. A table beyond it may be open beside.
  uint64_t max_bytes = 64ULL << 20;
};

class Symbolizer final : public NameSource {
 public:
  explicit Symbolizer(const SymbolizerOptions& options);

  void add_module(std::shared_ptr<const Module> module);
  void add_process(std::shared_ptr<const SampledProcess> process);
  void add_runtime_frame(const RuntimeSampleFrame& frame);
  void apply(const KernelSymbolChange& change);
  // The process has ended, and so has all that was its own.
  void forget_process(uint32_t index);
  // Modules that were neither told of nor asked about since the last call but one.
  void forget_idle_modules();
  // A round of counting who is in use has passed; about every two seconds.
  void age_tables() { budget_.age(); }
  // Closes tables that are used least, until half of the budget is free. All of it may be used
  // again after some calls of restore_budget().
  void shrink_budget();
  void restore_budget();

  bool symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) override;
  CodePlace place(const CodeAddress& address) override;
  FrameKind kind(const CodeAddress& address) const override;

  // Gives the memory of mapped files back until they are read again. For when nothing new has been
  // named for a while.
  void release_pages();

  struct Statistics {
    uint64_t opens = 0;   // of symbol tables, again included
    uint64_t closes = 0;  // to stay within the budget, or because their module was forgotten
    uint64_t open = 0;
    uint64_t bytes = 0;
    uint64_t budget_bytes = 0;  // at present; see shrink_budget()
  };
  Statistics statistics() const;

  // Why kernel frames have no names; empty when they have.
  const std::string& kernel_problem() const { return kernel_problem_; }
  // Why frames of a runtime have no names, and in which files; empty when they have.
  std::string runtime_problem() const;

 private:
  struct OpenModule {
    std::shared_ptr<const Module> module;
    std::string build_id;                    // as a mapping carries it
    std::shared_ptr<ModuleSymbols> symbols;  // null while closed
    std::unique_ptr<FunctionStarts> starts;  // null until a name is missing
    bool is_unreadable = false;
    bool is_unsupported = false;           // its runtime is, and that was noted
    const RuntimeKind* runtime = nullptr;  // that owns its code; null: none, or not open yet
    bool has_pages = false;                // read since release_pages()
    uint32_t last_round = 0;               // of forget_idle_modules()
    uint64_t table_bytes() const {
      return symbols->memory_bytes() + (starts == nullptr ? 0 : starts->memory_bytes());
    }
  };

  bool symbolize_module(const CodeAddress& address, std::vector<SourceFrame>& frames);
  bool symbolize_kernel(uint64_t address, std::vector<SourceFrame>& frames);
  bool symbolize_anonymous(const CodeAddress& address, std::vector<SourceFrame>& frames);
  bool symbolize_runtime(const CodeAddress& address, std::vector<SourceFrame>& frames);
  const RuntimeSampleFrame* runtime_frame(const CodeAddress& address) const;
  ProcessRuntimes& runtimes_of(const SampledProcess& process);
  std::shared_ptr<ModuleSymbols> open_symbols(const Module& module,
                                              const std::shared_ptr<const ElfFile>& file) const;
  // Of code without a name: a frame for its function, called by where that begins.
  void add_place_name(OpenModule& entry, uint64_t address, std::vector<SourceFrame>& frames);
  bool open_table(uint32_t id, OpenModule& entry);
  void note_unsupported(OpenModule& entry);
  void close_tables(std::span<const uint32_t> tables);

  const SymbolizerOptions options_;
  SymbolOptions host_symbols_;  // for files that are where we see them, too
  UniqueFd own_root_;
  std::unordered_map<uint32_t, OpenModule> modules_;
  std::unordered_map<uint32_t, std::shared_ptr<const SampledProcess>> processes_;
  std::unordered_map<uint32_t, ProcessRuntimes> runtimes_;  // by process
  std::unordered_map<uint32_t, std::unordered_map<uint64_t, RuntimeSampleFrame>> runtime_frames_;
  std::unique_ptr<KernelSymbols> kernel_;
  std::string kernel_problem_;
  struct RuntimeProblem {
    std::string file;  // the first
    bool has_more = false;
  };
  std::map<std::string, RuntimeProblem> runtime_problems_;  // by runtime and reason
  TableBudget budget_;
  uint64_t opens_ = 0;
  uint64_t closes_ = 0;
  uint32_t round_ = 0;
  std::string kernel_file_;  // scratch
  std::string place_name_;   // scratch
};

}  // namespace vesta::agent
