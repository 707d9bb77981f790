#include "agent/cpu/cpu_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include <sampler.skel.h>
#include "agent/doctor/privileges.h"
#include "agent/kernel/bpf_log.h"
#include "agent/kernel/online_cpus.h"

namespace vesta {
namespace {

Error load_error(int error_number, const std::string& log) {
  Error error = permission_error("load the sampling program", error_number);
  if (error.code != ErrorCode::kPermission && !log.empty()) error.message += "\n" + log;
  return error;
}

}  // namespace

void CpuSampler::Skeleton::operator()(sampler_bpf* skeleton) const {
  sampler_bpf__destroy(skeleton);
}
void CpuSampler::Ring::operator()(ring_buffer* ring) const {
  ring_buffer__free(ring);
}
void CpuSampler::Link::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

CpuSampler::~CpuSampler() = default;

bool parse_sample(std::span<const char> bytes, std::span<const StackPiece> more_stack,
                  const std::function<void(const SampleRecord&)>& use) {
  if (bytes.size() < sizeof(vesta_sample)) return false;
  const auto* head = reinterpret_cast<const vesta_sample*>(bytes.data());
  bytes = bytes.subspan(sizeof(*head));
  const auto take = [&](size_t count) {
    const std::span<const uint64_t> words(reinterpret_cast<const uint64_t*>(bytes.data()), count);
    bytes = bytes.subspan(words.size_bytes());
    return words;
  };
  const size_t registers = head->stack_bytes != 0 ? VESTA_LEAF_REGISTERS : 0;
  const size_t words = size_t{head->kernel_frames} + head->user_frames + registers;
  if (bytes.size() < words * sizeof(uint64_t) + head->stack_bytes) return false;
  const auto kernel_frames = take(head->kernel_frames);
  const auto user_frames = take(head->user_frames);
  const auto leaf_registers = take(registers);
  use(SampleRecord{*head, kernel_frames, user_frames, leaf_registers,
                   bytes.first(head->stack_bytes), more_stack});
  return true;
}

Result<std::unique_ptr<CpuSampler>> CpuSampler::load(const CpuSamplerOptions& options) {
  std::unique_ptr<CpuSampler> sampler(new CpuSampler());
  VESTA_ASSIGN(sampler->clock_, choose_clock(options.clock, options.frequency));
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return Error{
        ErrorCode::kUnsupported,
        "this kernel does not describe its types (no /sys/kernel/btf/vmlinux)",
        "use a kernel built with CONFIG_DEBUG_INFO_BTF, as those of all large distributions are"};
  }
  const BpfLog log;
  sampler->skeleton_.reset(sampler_bpf__open());
  if (sampler->skeleton_ == nullptr) return load_error(errno, log.text());
  sampler_bpf& skeleton = *sampler->skeleton_;
  skeleton.rodata->sample_weight = sampler->clock_.period_ns;
  skeleton.rodata->with_kernel = options.kernel_stacks ? 1 : 0;
  skeleton.rodata->only_targets = options.only_targets ? 1 : 0;
  skeleton.rodata->ring_high_water = options.ring_bytes / 2;
  bpf_map__set_max_entries(skeleton.maps.samples, options.ring_bytes);
  bpf_map__set_max_entries(skeleton.maps.processes, options.max_processes);
  bpf_map__set_max_entries(skeleton.maps.mapping_leaves, options.max_leaves);
  bpf_map__set_max_entries(skeleton.maps.modules, options.max_modules);
  bpf_map__set_max_entries(skeleton.maps.tables, options.max_modules);
  if (const int error = sampler_bpf__load(&skeleton); error != 0)
    return load_error(-error, log.text());

  LIBBPF_OPTS(bpf_test_run_opts, run);
  if (bpf_prog_test_run_opts(bpf_program__fd(skeleton.progs.find_namespace), &run) != 0 ||
      run.retval != 0) {
    return Error{ErrorCode::kIo, "cannot find out the pid namespace of this process", ""};
  }
  sampler->ring_.reset(
      ring_buffer__new(bpf_map__fd(skeleton.maps.samples), on_record, sampler.get(), nullptr));
  if (sampler->ring_ == nullptr)
    return Error{ErrorCode::kIo,
                 fmt::format("cannot map the sample ring: {}", std::strerror(errno)), ""};
  sampler->map_fds_ = {bpf_map__fd(skeleton.maps.processes),
                       bpf_map__fd(skeleton.maps.mapping_leaves),
                       bpf_map__fd(skeleton.maps.modules), bpf_map__fd(skeleton.maps.tables)};
  return sampler;
}

Status CpuSampler::add_target(uint32_t pid) {
  const uint8_t one = 1;
  if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.targets), &pid, &one, BPF_ANY) != 0)
    return Error{ErrorCode::kLimit,
                 fmt::format("cannot add process {} to the targets: {}", pid, std::strerror(errno)),
                 ""};
  return {};
}

void CpuSampler::remove_target(uint32_t pid) {
  bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.targets), &pid);
}

Status CpuSampler::open_cpu(int cpu) {
  VESTA_ASSIGN(UniqueFd event, open_clock(clock_, cpu));
  const BpfLog log;
  std::unique_ptr<bpf_link, Link> link(
      bpf_program__attach_perf_event(skeleton_->progs.take_cpu_sample, event.get()));
  if (link == nullptr) return load_error(errno, log.text());
  (void)event.release();  // the link closes it
  cpu_links_[cpu] = std::move(link);
  return {};
}

Status CpuSampler::start() {
  if (skeleton_->rodata->only_targets != 0) {
    const BpfLog log;
    fork_link_.reset(bpf_program__attach(skeleton_->progs.follow_fork));
    if (fork_link_ == nullptr) return load_error(errno, log.text());
  }
  return update_cpus();
}

Status CpuSampler::update_cpus() {
  VESTA_ASSIGN(const std::vector<int> online, online_cpus());
  std::map<int, std::unique_ptr<bpf_link, Link>> kept;
  for (const int cpu : online) {
    const auto found = cpu_links_.find(cpu);
    if (found != cpu_links_.end()) kept[cpu] = std::move(found->second);
  }
  cpu_links_ = std::move(kept);  // events of CPUs that are gone close here
  for (const int cpu : online) {
    if (cpu_links_.contains(cpu)) continue;
    Status opened = open_cpu(cpu);
    if (!opened.ok() && opened.error().code != ErrorCode::kNotFound) return opened;
  }
  return {};
}

void CpuSampler::stop() {
  cpu_links_.clear();
  fork_link_.reset();
}

int CpuSampler::ring_fd() const {
  return ring_buffer__epoll_fd(ring_.get());
}

int CpuSampler::on_record(void* context, void* data, size_t size) {
  auto* self = static_cast<CpuSampler*>(context);
  if (!self->take_record({static_cast<const char*>(data), size})) ++self->damaged_records_;
  return 0;
}

bool CpuSampler::take_record(std::span<const char> bytes) {
  if (bytes.size() < sizeof(vesta_sample)) return false;
  const auto& head = *reinterpret_cast<const vesta_sample*>(bytes.data());
  std::vector<StackPiece>& pieces = pieces_[head.cpu];
  if (head.kind == VESTA_SAMPLE_MORE_STACK) {
    const std::span<const char> stack = bytes.subspan(sizeof(head));
    if (stack.size() < head.stack_bytes || pieces.size() >= VESTA_MORE_STACK_RECORDS) return false;
    pieces.push_back(
        {head.time_ns, head.resume.sp, {stack.begin(), stack.begin() + head.stack_bytes}});
    return true;
  }
  // Pieces whose own record found no room are of no use.
  std::erase_if(pieces, [&](const StackPiece& piece) { return piece.time_ns != head.time_ns; });
  const bool taken = parse_sample(bytes, pieces, *use_);
  pieces.clear();
  return taken;
}

Status CpuSampler::drain(const std::function<void(const SampleRecord&)>& use) {
  use_ = &use;
  const int consumed = ring_buffer__consume(ring_.get());
  use_ = nullptr;
  if (consumed < 0)
    return Error{ErrorCode::kIo,
                 fmt::format("cannot read the sample ring: {}", std::strerror(-consumed)), ""};
  return {};
}

KernelCounters CpuSampler::counters() const {
  KernelCounters sums{};
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return sums;
  std::vector<uint64_t> values(static_cast<size_t>(cpus));
  for (uint32_t counter = 0; counter < VESTA_COUNTERS; ++counter) {
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.counters), &counter, values.data()) != 0)
      continue;
    for (const uint64_t value : values) sums[counter] += value;
  }
  return sums;
}

}  // namespace vesta
