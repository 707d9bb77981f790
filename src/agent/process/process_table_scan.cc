// The part of ProcessTable that reads mappings from /proc.
#include <algorithm>
#include <utility>

#include "agent/process/process_table.h"
#include "agent/process/tracked_process.h"

namespace vesta::agent {
namespace {

// A reading that took long is not repeated soon: at most this share of the time goes into it.
constexpr uint64_t kRescanShare = 20;
constexpr uint64_t kFourGigabytes = 1ULL << 32;

bool is_memory_without_file(std::string_view path) {
  return !path.starts_with('/') || path.starts_with("//") || path.starts_with("/dev/zero") ||
         path.starts_with("/SYSV") || path.starts_with("/anon_hugepage") ||
         path.starts_with("/[aio]");
}

}  // namespace

void ProcessTable::scan() {
  const uint64_t start = options_.clock();
  to_read_.clear();
  for (const uint32_t pid : list_processes(options_.proc_root)) {
    Tracked* process = living(pid);
    if (process == nullptr) {
      missing_.erase(pid);
      process = discover(pid);
    }
    if (process == nullptr || process->is_read) continue;
    to_read_.push_back(pid);
  }
  // Only after all are known: a process that ends meanwhile is at least known by name.
  size_t done = 0;
  while (done < to_read_.size() && options_.clock() - start < options_.eager_scan_ns) {
    if (Tracked* process = living(to_read_[done++])) repair(*process);
  }
  to_read_.erase(to_read_.begin(), to_read_.begin() + static_cast<ptrdiff_t>(done));
  std::ranges::reverse(to_read_);  // taken from the back
}

bool ProcessTable::repair(Tracked& process) {
  if (process.exit_ns != kStillAlive) return false;
  const uint64_t now = options_.clock();
  if (now < process.next_rescan_ns) {
    ++counters_.rescans_postponed;
    return false;
  }
  ++counters_.rescans;
  if (process.loss_generation != loss_generation_) {
    process.loss_generation = loss_generation_;
    process.has_details = false;  // an exec may be among what was lost
  }
  if (!process.has_details) read_details(process);
  const bool has_news = read_mappings(process, now);
  const uint64_t after = options_.clock();
  if (has_news) {
    ++counters_.rescans_with_news;
    process.rescan_interval_ns = options_.rescan_min_ns;
  } else {
    process.rescan_interval_ns = std::min(process.rescan_interval_ns * 2, options_.rescan_max_ns);
  }
  process.next_rescan_ns =
      after + std::max(process.rescan_interval_ns, (after - now) * kRescanShare);
  return has_news;
}

bool ProcessTable::read_mappings(Tracked& process, uint64_t now_ns) {
  const auto dir = ProcDir::open(options_.proc_root, process.pid);
  if (!dir) {
    ++counters_.rescans_failed;
    return false;
  }
  const auto text = dir->read("stat");
  const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
  if (!stat || (process.start_ticks != 0 && stat->start_ticks != process.start_ticks)) {
    ++counters_.rescans_failed;
    return false;
  }
  process.start_ticks = stat->start_ticks;
  process.comm = stat->comm;
  std::vector<CodeMapping> now;
  uint64_t last_end = 0;
  const auto lines = dir->read_maps([&](const ProcMapping& line) {
    if (!line.is_executable) return;
    if (now.size() >= options_.mappings.max_alive) {
      ++counters_.mappings_refused;
      return;
    }
    // A line may come again, or overlap the one before, when mappings change between two reads.
    if (line.start < last_end) return;
    last_end = line.end;
    MappedFile file;
    file.pid = process.pid;
    file.start = line.start;
    file.end = line.end;
    file.path = line.path;
    file.device = line.device;
    file.inode = line.inode;
    file.root = process.root;
    now.push_back(resolve_file(process, file, line.file_offset));
    // Held from the moment it is found: the next one may need room.
    if (now.back().module) registry_.retain(now.back().module);
  });
  bool has_news = false;
  // Nothing at all: it is about to end, and what it had mapped is still of use.
  if (!lines || *lines == 0) {
    ++counters_.rescans_failed;
  } else {
    process.is_read = true;
    const auto& known = process.spaces.back().mappings->alive();
    has_news = !std::ranges::equal(known, now,
                                   [](const auto& a, const auto& b) { return a.is_same_code(b); });
    if (has_news) {
      writable(process).replace(now, now_ns, process.spaces.back().start_ns);
      note_change(process);
    }
  }
  for (const CodeMapping& mapping : now) {
    if (mapping.module) registry_.release(mapping.module);
  }
  return has_news;
}

CodeMapping ProcessTable::resolve_file(const Tracked& process, const MappedFile& file,
                                       uint64_t file_offset) {
  CodeMapping mapping;
  mapping.start = file.start;
  mapping.end = file.end;
  mapping.file_offset = file_offset;
  // The vDSO of 32-bit processes is another one.
  if (file.path == "[vdso]" && file.end > kFourGigabytes) {
    mapping.module = registry_.vdso();
  } else if (!is_memory_without_file(file.path)) {
    // Memory files are mostly JIT code, but some programs are started from one.
    const bool is_memory_file = file.path.starts_with("/memfd:");
    if (!process.is_kernel_thread) mapping.module = registry_.acquire(file, is_memory_file);
  }
  const auto module = mapping.module ? registry_.module(mapping.module) : nullptr;
  if (module == nullptr) {
    mapping.module = {};
    mapping.name = intern(file.path);
    return mapping;
  }
  mapping.bias = module->bias(file.start, file_offset);
  mapping.name = module->path();
  return mapping;
}

}  // namespace vesta::agent
