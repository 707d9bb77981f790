#include "stack_pipeline.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

namespace vesta::agent {
namespace {

bool is_before(Deadline deadline) {
  return std::chrono::steady_clock::now() < deadline;
}

SampleResolverOptions resolving(const StackPipeline::Options& options) {
  SampleResolverOptions out;
  out.targets = options.targets;
  return out;
}

}  // namespace

uint64_t code_address(uint64_t frame) {
  return (frame & VESTA_FRAME_EXACT) != 0 ? frame & ~VESTA_FRAME_EXACT : frame - 1;
}

StackPipeline::StackPipeline(KernelSession& session, const Options& options)
    : session_(session),
      processes_(registry_),
      kernel_tables_(session.maps()),
      kernel_processes_(session.maps()),
      slots_(options.module_slots),
      loader_(options.fill_kernel_maps ? &kernel_tables_ : nullptr, nullptr, {}),
      resolver_(processes_, registry_, loader_, slots_,
                options.fill_kernel_maps ? &kernel_processes_ : nullptr, resolving(options)) {}

Result<std::unique_ptr<StackPipeline>> StackPipeline::start(KernelSession& session,
                                                            const Options& options) {
  std::unique_ptr<StackPipeline> pipeline(new StackPipeline(session, options));
  VESTA_ASSIGN(pipeline->side_band_, SideBand::open());
  pipeline->processes_.scan();
  pipeline->resolver_.begin();
  for (const uint32_t pid : options.targets) pipeline->remember_mappings(pid);
  return pipeline;
}

void StackPipeline::follow_processes() {
  side_band_->drain([this](const SideBandEvent& event) {
    processes_.apply(event);
    if (const auto* fork = std::get_if<ForkEvent>(&event)) resolver_.note_fork(*fork);
  });
  resolver_.publish_changes();
}

bool StackPipeline::has_all_tables(uint32_t pid) {
  for (const CodeMapping& mapping : processes_.mappings(pid).mappings) {
    if (!mapping.module) continue;
    const uint32_t slot = slots_.find(mapping.module);
    vesta_module header{};
    if (slot == ModuleSlots::kNoSlot ||
        bpf_map_lookup_elem(session_.maps().modules, &slot, &header) != 0 ||
        header.state == VESTA_MODULE_ABSENT) {
      return false;
    }
  }
  return true;
}

bool StackPipeline::wait_for_tables(uint32_t pid, Deadline deadline) {
  do {
    follow_processes();
    if (has_all_tables(pid)) return true;
    // The loader tells when it has built a table, not when the kernel has it.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  } while (is_before(deadline));
  return false;
}

void StackPipeline::remember_mappings(uint32_t pid) {
  const auto mappings = processes_.mappings(pid).mappings;
  if (!mappings.empty()) known_mappings_[pid] = {mappings.begin(), mappings.end()};
}

uint64_t StackPipeline::address_in_process(uint32_t pid, const CodeAddress& place) {
  if (place.kind != CodeAddress::Kind::kModule) return place.address;
  for (const CodeMapping& mapping : known_mappings_[pid]) {
    if (mapping.module.value == place.owner && mapping.contains(place.address + mapping.bias))
      return place.address + mapping.bias;
  }
  return 0;
}

std::vector<OracleStack> StackPipeline::take(Deadline deadline) {
  follow_processes();
  (void)session_.drain([this](const SampleRecord& record) {
    heads_.push_back({record.head, record.kernel_frames.size()});
    resolver_.add(record);
  });
  std::vector<OracleStack> stacks;
  while (true) {
    const ResolvedSamples resolved = resolver_.take();
    for (const ResolvedSample& sample : resolved.samples) {
      const auto head = std::ranges::find_if(heads_, [&](const Head& candidate) {
        return candidate.sample.time_ns == sample.time_ns && candidate.sample.tid == sample.tid;
      });
      if (head == heads_.end()) continue;
      OracleStack stack;
      stack.pid = head->sample.pid;
      remember_mappings(stack.pid);
      stack.tid = sample.tid;
      stack.tag = sample.values[0];
      stack.stack_pointer = head->sample.cgroup_id;
      stack.result = sample.result;
      stack.kernel_result = static_cast<vesta_unwind_result>(head->sample.result);
      stack.kernel_frames = head->kernel_frames;
      for (size_t i = head->kernel_frames; i < sample.frame_count; ++i) {
        const CodeAddress& frame = resolved.frames[sample.first_frame + i];
        if (frame.kind == CodeAddress::Kind::kGuessedCaller) continue;
        stack.code.push_back(address_in_process(stack.pid, frame));
      }
      stacks.push_back(std::move(stack));
      heads_.erase(head);
    }
    if (!resolver_.is_waiting()) return stacks;
    if (!is_before(deadline)) {
      resolver_.give_up_waiting();
      continue;
    }
    pollfd ready{loader_.ready_fd(), POLLIN, 0};
    (void)::poll(&ready, 1, 20);
    loader_.clear_ready();
    resolver_.retry();
  }
}

std::string StackPipeline::place(uint32_t pid, uint64_t address) {
  for (const CodeMapping& mapping : processes_.mappings(pid).mappings) {
    if (mapping.contains(address)) {
      return fmt::format("{}+{:#x}", std::filesystem::path(mapping.name).filename().string(),
                         address - mapping.bias);
    }
  }
  return fmt::format("{:#x}", address);
}

}  // namespace vesta::agent
