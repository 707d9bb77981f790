#include "agent/naming/symbolizer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/process/elf_head.h"
#include "agent/process/module.h"
#include "agent/process/target_file.h"
#include "base/file.h"
#include "profile/frame_name.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kKernelFile = "[kernel.kallsyms]";

// The lower half of the address space belongs to processes.
constexpr uint64_t kKernelStart = 1ULL << 63;

// What DWARF of one file may take of the budget, so that it does not close all others.
constexpr uint64_t kDwarfPart = 16;
// And its demangled names, which whoever asks keeps as well.
constexpr uint64_t kNamesPart = 128;
// Less than this is not worth saving.
constexpr uint64_t kLeastBudget = 4ULL << 20;
constexpr size_t kMaxRuntimeProblems = 8;

// Leaves its guests their part.
uint64_t budget_for(uint64_t max_bytes) {
  return max_bytes / (TableBudget::kGuestPart + 1) * TableBudget::kGuestPart;
}

SymbolizerOptions within_budget(SymbolizerOptions options) {
  SymbolOptions& symbols = options.symbols;
  symbols.max_bytes = std::min(symbols.max_bytes, options.max_bytes / kDwarfPart);
  symbols.max_name_bytes = std::min<size_t>(symbols.max_name_bytes, options.max_bytes / kNamesPart);
  return options;
}

}  // namespace

Symbolizer::Symbolizer(const SymbolizerOptions& options)
    : options_(within_budget(options)), budget_(budget_for(options.max_bytes)) {
  host_symbols_ = options_.symbols;
  host_symbols_.debug_files = std::make_shared<DebugFiles>(DebugFiles::Options{});
  own_root_ = UniqueFd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void Symbolizer::add_module(std::shared_ptr<const Module> module) {
  OpenModule& entry = modules_[module->id().value];
  entry.build_id = module->identity_text();
  entry.last_round = round_;
  entry.module = std::move(module);
}

void Symbolizer::add_process(std::shared_ptr<const SampledProcess> process) {
  processes_[process->index] = std::move(process);
}

void Symbolizer::add_runtime_frame(const RuntimeSampleFrame& frame) {
  runtime_frames_[frame.process].emplace(frame.number, frame);
}

void Symbolizer::forget_process(uint32_t index) {
  processes_.erase(index);
  runtimes_.erase(index);
  runtime_frames_.erase(index);
}

void Symbolizer::forget_idle_modules() {
  std::erase_if(modules_, [this](const auto& item) {
    const auto& [id, entry] = item;
    if (entry.last_round >= round_) return false;
    if (entry.symbols != nullptr) ++closes_;
    budget_.forget(id);
    return true;
  });
  ++round_;
}

void Symbolizer::shrink_budget() {
  close_tables(budget_.set_max_bytes(std::max(kLeastBudget, budget_.max_bytes() / 2)));
}

void Symbolizer::restore_budget() {
  const uint64_t full = budget_for(options_.max_bytes);
  if (budget_.max_bytes() < full)
    (void)budget_.set_max_bytes(std::min(full, budget_.max_bytes() * 2));
}

Symbolizer::Statistics Symbolizer::statistics() const {
  const uint64_t guests = budget_.max_bytes() / TableBudget::kGuestPart;
  return {opens_, closes_, budget_.open_tables(), budget_.bytes(), budget_.max_bytes() + guests};
}

void Symbolizer::apply(const KernelSymbolChange& change) {
  if (kernel_ == nullptr) return;  // read later, with this change in it
  if (change.removed) {
    kernel_->remove(change.address);
  } else {
    kernel_->add(change.address, change.bytes, change.name);
  }
}

bool Symbolizer::symbolize(const CodeAddress& address, std::vector<SourceFrame>& frames) {
  switch (address.kind) {
    case CodeAddress::Kind::kModule:
      return symbolize_module(address, frames);
    case CodeAddress::Kind::kKernel:
      return symbolize_kernel(address.address, frames);
    case CodeAddress::Kind::kAnonymous:
      return symbolize_anonymous(address, frames);
    case CodeAddress::Kind::kRuntime:
      return symbolize_runtime(address, frames);
    case CodeAddress::Kind::kGuessedCaller:
      break;
  }
  return false;
}

bool Symbolizer::symbolize_module(const CodeAddress& address, std::vector<SourceFrame>& frames) {
  const auto found = modules_.find(address.owner);
  if (found == modules_.end() || found->second.is_unreadable) return false;
  OpenModule& entry = found->second;
  entry.last_round = round_;
  budget_.use(address.owner);
  if (entry.symbols == nullptr && !open_table(address.owner, entry)) return false;
  entry.has_pages = true;
  const bool is_named = entry.symbols->lookup(address.address, frames);
  if (!is_named) add_place_name(entry, address.address, frames);
  // Tables grow as they are used. What is closed here is another module's.
  close_tables(budget_.resize(address.owner, entry.table_bytes()));
  return is_named;
}

bool Symbolizer::open_table(uint32_t id, OpenModule& entry) {
  const auto file = entry.module->open();
  if (!file.ok()) {
    entry.is_unreadable = true;
    return false;
  }
  entry.symbols = open_symbols(*entry.module, *file);
  entry.runtime = runtime_of(*entry.symbols);
  note_unsupported(entry);
  ++opens_;
  // All symbols were read for the table; few of the names will be.
  entry.symbols->release_pages();
  close_tables(budget_.resize(id, entry.table_bytes()));
  return true;
}

void Symbolizer::note_unsupported(OpenModule& entry) {
  if (entry.is_unsupported) return;  // opened again
  const UnsupportedRuntime found = unsupported_runtime(*entry.symbols);
  if (found.kind == nullptr) return;
  entry.is_unsupported = true;
  const std::string key = fmt::format("{}: {}", found.kind->name, found.why);
  if (const auto known = runtime_problems_.find(key); known != runtime_problems_.end()) {
    known->second.has_more = true;
  } else if (runtime_problems_.size() < kMaxRuntimeProblems) {
    runtime_problems_[key].file = entry.module->path();
  }
}

std::string Symbolizer::runtime_problem() const {
  std::string text;
  for (const auto& [why, where] : runtime_problems_) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} ({}{})", why, where.file, where.has_more ? " and others" : "");
  }
  return text;
}

void Symbolizer::close_tables(std::span<const uint32_t> tables) {
  for (const uint32_t id : tables) {
    OpenModule& entry = modules_.at(id);
    entry.symbols = nullptr;
    entry.starts = nullptr;
    ++closes_;
  }
}

void Symbolizer::add_place_name(OpenModule& entry, uint64_t address,
                                std::vector<SourceFrame>& frames) {
  if (entry.starts == nullptr) {
    entry.starts = std::make_unique<FunctionStarts>(FunctionStarts::of(entry.symbols->file()));
    entry.symbols->release_pages();
  }
  const auto start = entry.starts->find(address);
  if (!start) return;
  place_name_ = place_name(entry.module->path(), *start);
  frames.emplace_back().name = place_name_;
}

std::shared_ptr<ModuleSymbols> Symbolizer::open_symbols(
    const Module& module, const std::shared_ptr<const ElfFile>& file) const {
  const std::shared_ptr<const ProcessRoot> root = module.root();
  if (root == nullptr) return ModuleSymbols::open(file, module.path(), host_symbols_);
  // A container may bring its own debug files; what it lacks, the host may have.
  SymbolOptions symbols = options_.symbols;
  symbols.debug_roots = {fmt::format("/proc/self/fd/{}", root->fd.get()), "/"};
  return ModuleSymbols::open(file, module.path(), symbols);
}

void Symbolizer::release_pages() {
  for (auto& [id, entry] : modules_) {
    if (entry.symbols != nullptr && std::exchange(entry.has_pages, false))
      entry.symbols->release_pages();
  }
}

bool Symbolizer::symbolize_kernel(uint64_t address, std::vector<SourceFrame>& frames) {
  if (kernel_ == nullptr && kernel_problem_.empty()) {
    auto opened = KernelSymbols::open();
    if (opened.ok()) {
      kernel_ = std::make_unique<KernelSymbols>(std::move(*opened));
    } else {
      kernel_problem_ = opened.error().hint.empty()
                            ? opened.error().message
                            : fmt::format("{}; {}", opened.error().message, opened.error().hint);
    }
  }
  if (kernel_ == nullptr) return false;
  const auto symbol = kernel_->lookup(address);
  if (!symbol) return false;
  frames.emplace_back().name = symbol->name;
  return true;
}

bool Symbolizer::symbolize_anonymous(const CodeAddress& address, std::vector<SourceFrame>& frames) {
  const auto found = processes_.find(address.owner);
  if (found == processes_.end() || address.address >= kKernelStart) return false;
  return runtimes_of(*found->second).name_code(address.address, frames);
}

bool Symbolizer::symbolize_runtime(const CodeAddress& address, std::vector<SourceFrame>& frames) {
  const auto process = processes_.find(address.owner);
  const RuntimeSampleFrame* const frame = runtime_frame(address);
  if (process == processes_.end() || frame == nullptr) return false;
  return runtimes_of(*process->second).name_frame(frame->runtime, frame->frame, frames);
}

const RuntimeSampleFrame* Symbolizer::runtime_frame(const CodeAddress& address) const {
  const auto of_process = runtime_frames_.find(address.owner);
  if (of_process == runtime_frames_.end()) return nullptr;
  const auto found = of_process->second.find(address.address);
  return found == of_process->second.end() ? nullptr : &found->second;
}

ProcessRuntimes& Symbolizer::runtimes_of(const SampledProcess& process) {
  RuntimeProcess about;
  about.pid = process.namespace_pid != 0 ? process.namespace_pid : process.pid;
  about.uid = process.uid;
  about.root = process.root != nullptr ? process.root->fd.get() : own_root_.get();
  return runtimes_.try_emplace(process.index, about).first->second;
}

CodePlace Symbolizer::place(const CodeAddress& address) {
  CodePlace place;
  if (address.kind == CodeAddress::Kind::kKernel) {
    place.file = kKernelFile;
    if (kernel_ != nullptr) {
      const auto symbol = kernel_->lookup_loaded(address.address);
      if (symbol && !symbol->module.empty()) {
        kernel_file_ = fmt::format("[{}]", symbol->module);
        place.file = kernel_file_;
      }
    }
    return place;
  }
  const auto found = modules_.find(address.owner);
  if (address.kind != CodeAddress::Kind::kModule || found == modules_.end()) return place;
  const OpenModule& entry = found->second;
  place.file = entry.module->path();
  place.build_id = entry.build_id;
  for (const ElfHead::Segment& segment : entry.module->code_segments()) {
    if (address.address < segment.address ||
        address.address - segment.address >= segment.file_bytes)
      continue;
    place.start = segment.address;
    place.limit = segment.address + segment.file_bytes;
    place.file_offset = segment.offset;
  }
  return place;
}

FrameKind Symbolizer::kind(const CodeAddress& address) const {
  const RuntimeKind* runtime = nullptr;
  if (address.kind == CodeAddress::Kind::kKernel) return FrameKind::kKernel;
  if (address.kind == CodeAddress::Kind::kModule) {
    const auto found = modules_.find(address.owner);
    if (found != modules_.end()) runtime = found->second.runtime;
  } else if (const RuntimeSampleFrame* frame = runtime_frame(address)) {
    runtime = find_runtime(frame->runtime);
  }
  return runtime == nullptr ? FrameKind::kNative : runtime->frames;
}

}  // namespace vesta::agent
