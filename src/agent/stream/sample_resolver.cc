#include "agent/stream/sample_resolver.h"

#include <algorithm>
#include <cstring>

#include "unwind/stack_unwinder.h"

namespace vesta::agent {
namespace {

// The instruction that a frame stands for: itself, or the call that it returns to.
uint64_t code_address(uint64_t frame) {
  const uint64_t address = frame & ~VESTA_FRAME_BITS;
  return (frame & VESTA_FRAME_EXACT) != 0 ? address : address - 1;
}

constexpr size_t kMaxKeptStacks = 1 << 14;
// Of several waits in one system call only one is told: the enders of the others wait in vain.
constexpr size_t kMaxKeptEnders = 1 << 13;

bool is_ender(const vesta_sample& head) {
  return (head.link & VESTA_LINK_ENDER) != 0;
}

bool covers(const CodeMapping* mapping, uint64_t address) {
  return mapping != nullptr && address >= mapping->start && address < mapping->end;
}

}  // namespace

SampleResolver::SampleResolver(ProcessTable& processes, ModuleRegistry& modules,
                               TableLoader& loader, ModuleSlots& slots, KernelProcessMap* kernel,
                               const SampleResolverOptions& options)
    : processes_(processes),
      modules_(modules),
      loader_(loader),
      slots_(slots),
      kernel_(kernel),
      options_(options),
      targets_(options.targets.begin(), options.targets.end()) {}

void SampleResolver::add(const SampleRecord& record) {
  const auto published = published_.find(record.head.pid);
  if (published != published_.end())
    published_order_.splice(published_order_.end(), published_order_, published->second.place);
  // An event whose ender waits for a table waits with it.
  if (record.head.link != 0 && waiting_enders_.contains(record.head.link | VESTA_LINK_ENDER) &&
      !is_ender(record.head) && keep_waiting(record))
    return;
  if (record.stack.empty()) {
    // A program that could not copy the stack says so no other way.
    if (record.head.result == VESTA_UNWIND_NO_PROCESS && published == published_.end())
      publish(record.head.pid);
    append(record, record.user_frames, static_cast<vesta_unwind_result>(record.head.result));
    return;
  }
  if (published == published_.end()) publish(record.head.pid);
  Stack stack = finish_stack(record);
  if (!stack.needs_table) {
    append(record, stack.user_frames, stack.result);
    return;
  }
  if (!keep_waiting(record)) append(record, stack.user_frames, stack.result);
}

// False when there is no room.
bool SampleResolver::keep_waiting(const SampleRecord& record) {
  const auto* begin = reinterpret_cast<const char*>(&record.head);
  const char* end = begin + sizeof(record.head) + record.kernel_frames.size_bytes() +
                    record.user_frames.size_bytes() + record.registers.size_bytes() +
                    record.stack.size();
  uint64_t bytes = static_cast<uint64_t>(end - begin);
  for (const StackPiece& piece : record.more_stack) bytes += piece.bytes.size();
  if (waiting_bytes_ + bytes > options_.max_waiting_bytes) return false;
  waiting_bytes_ += bytes;
  waiting_.push_back({{begin, end},
                      {record.more_stack.begin(), record.more_stack.end()},
                      record.head.time_ns,
                      record.head.link});
  if (is_ender(record.head)) waiting_enders_.insert(record.head.link);
  return true;
}

void SampleResolver::add_waiting(const SampleRecord& record, uint64_t switches) {
  const size_t before = out_.samples.size();
  add(record);
  // Not when it waits for a table.
  if (out_.samples.size() == before || kept_.size() >= kMaxKeptStacks) return;
  const ResolvedSample& sample = out_.samples.back();
  const auto frames = std::span(out_.frames).subspan(sample.first_frame, sample.frame_count);
  kept_[record.head.tid] = {switches, keeping_round_, sample, {frames.begin(), frames.end()}};
}

bool SampleResolver::add_again(const vesta_sample& head, uint64_t switches) {
  const auto found = kept_.find(head.tid);
  if (found == kept_.end() || found->second.switches != switches) return false;
  KeptStack& kept = found->second;
  const std::shared_ptr<const SampledProcess> process = process_of(head);
  if (process->index != kept.sample.process) return false;
  kept.round = keeping_round_;
  ResolvedSample sample = kept.sample;
  sample.probe = head.probe;
  sample.time_ns = head.time_ns;
  sample.detail = head.detail;
  sample.object = head.object;
  std::ranges::copy(head.values, sample.values.begin());
  sample.first_frame = add_frames(kept.frames);
  sample.ender = {};
  if (head.link != 0) add_ender(sample, head.link);
  out_.samples.push_back(sample);
  return true;
}

void SampleResolver::forget_waiting() {
  std::erase_if(kept_, [&](const auto& item) { return item.second.round != keeping_round_; });
  ++keeping_round_;
}

void SampleResolver::retry() {
  std::deque<Waiting> records;
  records.swap(waiting_);
  waiting_bytes_ = 0;
  waiting_enders_.clear();
  // What still lacks a table goes back into waiting_, in order.
  for (const Waiting& waiting : records) {
    (void)parse_sample(waiting.record, waiting.more_stack,
                       [this](const SampleRecord& record) { add(record); });
  }
}

void SampleResolver::give_up_waiting(uint64_t before_ns) {
  std::deque<Waiting> records;
  records.swap(waiting_);
  waiting_bytes_ = 0;
  waiting_enders_.clear();
  for (Waiting& waiting : records) {
    if (waiting.time_ns >= before_ns) {
      waiting_bytes_ += bytes_of(waiting);
      if ((waiting.link & VESTA_LINK_ENDER) != 0) waiting_enders_.insert(waiting.link);
      waiting_.push_back(std::move(waiting));
      continue;
    }
    (void)parse_sample(waiting.record, waiting.more_stack, [this](const SampleRecord& record) {
      if (record.stack.empty()) {
        append(record, record.user_frames, static_cast<vesta_unwind_result>(record.head.result));
        return;
      }
      const Stack stack = finish_stack(record);
      append(record, stack.user_frames, stack.result);
    });
  }
}

uint64_t SampleResolver::oldest_waiting_ns() const {
  uint64_t oldest = UINT64_MAX;
  for (const Waiting& waiting : waiting_) oldest = std::min(oldest, waiting.time_ns);
  return oldest;
}

uint64_t SampleResolver::bytes_of(const Waiting& waiting) {
  uint64_t bytes = waiting.record.size();
  for (const StackPiece& piece : waiting.more_stack) bytes += piece.bytes.size();
  return bytes;
}

// The process as it was at the time of the sample, and the copy of its stack.
class SampleResolver::Target : public UnwindTarget {
 public:
  Target(SampleResolver& owner, const SampleRecord& record) : owner_(owner), head_(record.head) {
    memory_.add(head_.resume.sp - head_.stack_below, {record.stack.data(), record.stack.size()});
    for (const StackPiece& piece : record.more_stack)
      memory_.add(piece.address, {piece.bytes.data(), piece.bytes.size()});
  }

  bool needs_table() const { return needs_table_; }

  bool find_mapping(uint64_t pc, Mapping& mapping) override {
    const CodeMapping* found = owner_.processes_.find(head_.pid, pc, head_.time_ns);
    if (found == nullptr) return false;
    mapping.start = found->start;
    mapping.end = found->end;
    mapping.bias = found->bias;
    const std::shared_ptr<const Module> module =
        found->module ? owner_.modules_.module(found->module) : nullptr;
    mapping.is_anonymous = module == nullptr;
    module_ = module;
    if (module == nullptr) return true;
    std::shared_ptr<const UnwindTable> table =
        owner_.loader_.get(module, owner_.slots_.find(found->module));
    mapping.table = table.get();
    if (table == nullptr) {
      needs_table_ = true;
    } else {
      tables_.push_back(std::move(table));  // the loader may drop its copy meanwhile
    }
    return true;
  }

  Read read_word(uint64_t address, uint64_t& value) override {
    return memory_.read_word(address, value);
  }

  // From the file: the process may be gone.
  bool read_code(const Mapping& mapping, uint64_t address, uint64_t& value) override {
    if (module_ == nullptr) return false;
    auto file = module_->open();
    if (!file.ok()) return false;
    const std::string_view code = (*file)->bytes_at(address - mapping.bias);
    if (code.size() < sizeof(value)) return false;
    std::memcpy(&value, code.data(), sizeof(value));
    files_.push_back(std::move(*file));  // stays mapped for the next frame
    return true;
  }

 private:
  SampleResolver& owner_;
  const vesta_sample& head_;
  CopiedMemory memory_;
  std::vector<std::shared_ptr<const UnwindTable>> tables_;
  std::shared_ptr<const Module> module_;  // of the mapping found last; null when it has none
  std::vector<std::shared_ptr<const ElfFile>> files_;
  bool needs_table_ = false;
};

SampleResolver::Stack SampleResolver::finish_stack(const SampleRecord& record) {
  Stack out;
  out.user_frames.assign(record.user_frames.begin(), record.user_frames.end());
  Target target(*this, record);
  out.result = StackUnwinder(target).resume(
      record.head.resume, record.registers.first<VESTA_LEAF_REGISTERS>(), out.user_frames);
  out.needs_table = target.needs_table();
  return out;
}

void SampleResolver::append(const SampleRecord& record, std::span<const uint64_t> user_frames,
                            vesta_unwind_result result) {
  const vesta_sample& head = record.head;
  const std::shared_ptr<const SampledProcess> process = process_of(head);
  ResolvedSample sample;
  sample.process = process->index;
  sample.tid = head.tid;
  sample.cpu = head.cpu;
  sample.time_ns = head.time_ns;
  sample.probe = head.probe;
  sample.detail = head.detail;
  sample.object = head.object;
  std::ranges::copy(head.values, sample.values.begin());
  sample.result = result < VESTA_UNWIND_RESULTS ? result : VESTA_UNWIND_BAD_FRAME;
  std::memcpy(sample.thread, head.comm, sizeof(sample.thread));
  sample.first_frame = static_cast<uint32_t>(out_.frames.size());
  bool is_leaf = true;
  for (const uint64_t frame : record.kernel_frames) {
    out_.frames.push_back({is_leaf ? frame : frame - 1, CodeAddress::Kind::kKernel, 0});
    is_leaf = false;
  }
  append_user_frames(record, user_frames, sample);
  sample.frame_count = static_cast<uint32_t>(out_.frames.size()) - sample.first_frame;
  if (is_ender(head)) {
    keep_ender(sample, head.link & ~VESTA_LINK_ENDER);
    return;
  }
  if (head.link != 0) add_ender(sample, head.link);
  out_.samples.push_back(sample);
}

void SampleResolver::keep_ender(const ResolvedSample& sample, uint64_t link) {
  if (ender_order_.size() >= kMaxKeptEnders) {
    enders_.erase(ender_order_.front());
    ender_order_.pop_front();
  }
  ender_order_.push_back(link);
  KeptEnder& kept = enders_[link];
  kept.ender.process = sample.process;
  kept.ender.tid = sample.tid;
  kept.ender.result = sample.result;
  std::memcpy(kept.ender.thread, sample.thread, sizeof(kept.ender.thread));
  const auto first = out_.frames.begin() + sample.first_frame;
  kept.frames.assign(first, out_.frames.end());
  out_.frames.erase(first, out_.frames.end());
}

void SampleResolver::add_ender(ResolvedSample& sample, uint64_t link) {
  const auto found = enders_.find(link);
  if (found == enders_.end()) return;
  const KeptEnder& kept = found->second;
  sample.ender = kept.ender;
  sample.ender.frame_count = static_cast<uint32_t>(kept.frames.size());
  sample.ender.first_frame = add_frames(kept.frames);
  enders_.erase(found);
}

uint32_t SampleResolver::add_frames(std::span<const CodeAddress> frames) {
  const auto first = static_cast<uint32_t>(out_.frames.size());
  for (const CodeAddress& frame : frames) {
    if (frame.kind == CodeAddress::Kind::kModule) note_module(ModuleId(frame.owner));
    out_.frames.push_back(frame);
  }
  return first;
}

void SampleResolver::append_user_frames(const SampleRecord& record,
                                        std::span<const uint64_t> user_frames,
                                        ResolvedSample& sample) {
  const CodeMapping* mapping = nullptr;
  ModuleId last_module;
  for (size_t i = 0; i < user_frames.size(); ++i) {
    const uint64_t frame = user_frames[i];
    if ((frame & VESTA_FRAME_RUNTIME) != 0) {
      if (++i < user_frames.size()) append_runtime_frame(sample.process, frame, user_frames[i]);
      continue;
    }
    if ((frame & VESTA_FRAME_DECODED) != 0) ++sample.decoded_frames;
    if ((frame & VESTA_FRAME_GUESSED) != 0) ++sample.guessed_frames;
    const uint64_t address = code_address(frame);
    if ((frame & VESTA_FRAME_GUESSED) != 0)
      out_.frames.push_back({0, CodeAddress::Kind::kGuessedCaller, 0});
    if (!covers(mapping, address))
      mapping = processes_.find(record.head.pid, address, record.head.time_ns);
    if (mapping == nullptr || !mapping->module) {
      out_.frames.push_back({address, CodeAddress::Kind::kAnonymous, sample.process});
      continue;
    }
    if (mapping->module != last_module) {
      last_module = mapping->module;
      note_module(last_module);
    }
    out_.frames.push_back({address - mapping->bias, CodeAddress::Kind::kModule, last_module.value});
  }
}

void SampleResolver::append_runtime_frame(uint32_t process, uint64_t head, uint64_t payload) {
  const auto [at, is_new] =
      runtime_frames_[process].try_emplace({head, payload}, last_runtime_frame_ + 1);
  if (is_new) {
    ++last_runtime_frame_;
    const auto runtime = static_cast<uint8_t>(head >> VESTA_FRAME_RUNTIME_SHIFT);
    out_.runtime_frames.push_back(
        {process, runtime, {static_cast<uint32_t>(head), payload}, at->second});
  }
  out_.frames.push_back({at->second, CodeAddress::Kind::kRuntime, process});
}

void SampleResolver::note_module(ModuleId module) {
  loader_.touch(module);
  if (!told_modules_.insert(module).second) return;
  if (std::shared_ptr<const Module> known = modules_.module(module))
    out_.modules.push_back(std::move(known));
}

std::shared_ptr<const SampledProcess> SampleResolver::process_of(const vesta_sample& head) {
  const Process* source = processes_.sampled(head.pid, head.time_ns);
  KnownProcess& known = known_processes_[head.pid];
  if (known.info != nullptr && known.source == source &&
      (source == nullptr ||
       (known.info->executable == source->exe && known.info->name == source->comm))) {
    return known.info;
  }
  auto info = std::make_shared<SampledProcess>();
  info->index = ++last_process_index_;
  info->pid = head.pid;
  if (source != nullptr) {
    info->name = source->comm;
    info->executable = source->exe;
    info->root = source->root;
    info->namespace_pid = source->ns_pid;
    info->uid = source->uid;
    info->start_ns = source->start_ns;
    info->cgroup = source->cgroup;
    info->is_kernel_thread = source->is_kernel_thread;
  }
  if (info->name.empty()) info->name.assign(head.comm, ::strnlen(head.comm, sizeof(head.comm)));
  if (known.info != nullptr) end_process(*known.info);
  known = {info, source};
  out_.processes.push_back(info);
  return info;
}

void SampleResolver::end_process(const SampledProcess& process) {
  out_.ended.push_back(process.index);
  runtime_frames_.erase(process.index);
}

void SampleResolver::forget_process(uint32_t pid) {
  const auto known = known_processes_.find(pid);
  if (known == known_processes_.end()) return;
  if (known->second.info != nullptr) end_process(*known->second.info);
  known_processes_.erase(known);
}

void SampleResolver::add(const KsymbolEvent& event) {
  out_.kernel_symbols.push_back(
      {event.address, event.length, event.is_unregister, std::string(event.name)});
}

std::span<const uint32_t> SampleResolver::publish_changes() {
  changed_.clear();
  gone_.clear();
  ended_targets_.clear();
  processes_.take_changes(changed_, gone_);
  for (const uint32_t pid : gone_) {
    unpublish(pid);
    forget_process(pid);
    if (!targets_.contains(pid)) continue;
    // The id may already be that of a child of another target.
    const Process* next = processes_.process(pid);
    if (next != nullptr && next->exit_ns == kStillAlive && targets_.contains(next->parent))
      continue;
    targets_.erase(pid);
    ended_targets_.push_back(pid);
  }
  for (const uint32_t pid : changed_) {
    if (published_.contains(pid) || targets_.contains(pid)) publish(pid);
    if (options_.targets.empty() || targets_.contains(pid)) request_tables(pid);
  }
  return ended_targets_;
}

void SampleResolver::note_fork(const ForkEvent& event) {
  if (event.pid != event.parent_pid && targets_.contains(event.parent_pid))
    targets_.insert(event.pid);
}

void SampleResolver::add_target(uint32_t pid) {
  if (!targets_.insert(pid).second) return;
  publish(pid);
  request_tables(pid);
}

void SampleResolver::begin() {
  changed_.clear();
  gone_.clear();
  processes_.take_changes(changed_, gone_);
  for (const uint32_t pid : targets_) {
    publish(pid);
    request_tables(pid);
  }
}

void SampleResolver::request_tables(uint32_t pid) {
  const bool is_target = targets_.contains(pid);
  for (const CodeMapping& mapping : processes_.mappings(pid).mappings) {
    const auto module = mapping.module ? modules_.module(mapping.module) : nullptr;
    if (module == nullptr) continue;
    const uint32_t slot = slots_.find(mapping.module);
    if (is_target) {
      (void)loader_.get(module, slot);
    } else {
      // Most processes end before they are sampled: their tables are loaded when one is.
      loader_.prepare(module, slot);
    }
  }
}

void SampleResolver::publish(uint32_t pid) {
  if (kernel_ == nullptr) return;
  const ProcessTable::Snapshot snapshot = processes_.mappings(pid);
  mappings_.clear();
  std::vector<ModuleId> references;
  for (const CodeMapping& mapping : snapshot.mappings) {
    vesta_mapping out{mapping.start, mapping.end, mapping.bias, VESTA_MODULE_ANONYMOUS, 0};
    if (mapping.module) {
      const ModuleSlots::Taken taken = slots_.acquire(mapping.module);
      if (taken.slot != ModuleSlots::kNoSlot) references.push_back(mapping.module);
      if (taken.evicted) loader_.forget_slot(taken.evicted, taken.slot);
      out.module = taken.slot;
    }
    mappings_.push_back(out);
  }
  // New references before the old ones go, so that no slot changes hands in between.
  size_t old_count = 0;
  const auto old = published_.find(pid);
  if (old != published_.end()) {
    old_count = old->second.mapping_count;
    for (const ModuleId module : old->second.modules) slots_.release(module);
    published_order_.erase(old->second.place);
    published_.erase(old);
  }
  Status put = kernel_->put(pid, mappings_);
  while (!put.ok() && put.error().code == ErrorCode::kLimit && make_room_for_process(pid))
    put = kernel_->put(pid, mappings_);
  if (!put.ok()) {
    kernel_->drop(pid, mappings_.size());
    for (const ModuleId module : references) slots_.release(module);
    return;
  }
  // A shorter list leaves leaves behind that nobody would find again.
  kernel_->drop_leaves(pid, mappings_.size(), old_count);
  published_[pid] = {std::move(references), mappings_.size(),
                     published_order_.insert(published_order_.end(), pid)};
}

void SampleResolver::unpublish(uint32_t pid) {
  const auto found = published_.find(pid);
  if (found == published_.end()) return;
  kernel_->drop(pid, found->second.mapping_count);
  for (const ModuleId module : found->second.modules) slots_.release(module);
  published_order_.erase(found->second.place);
  published_.erase(found);
}

bool SampleResolver::make_room_for_process(uint32_t keep) {
  if (published_order_.empty() || published_order_.front() == keep) return false;
  unpublish(published_order_.front());
  return true;
}

ResolvedSamples SampleResolver::take() {
  ResolvedSamples taken;
  std::swap(taken, out_);
  return taken;
}

}  // namespace vesta::agent
