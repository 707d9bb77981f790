#include <cstdlib>

#include "agent/process/mapping_history.h"
#include "agent/process/process_table.h"
#include "agent/process/side_band_decode.h"

// Any bytes decode within their bounds, and a table that is fed with the events stays in order and
// within its limits.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vesta::agent::ModuleRegistry registry({.proc_root = "/nowhere"});
  vesta::agent::ProcessTableOptions options;
  options.proc_root = "/nowhere";
  options.max_processes = 16;
  options.mappings = {.max_alive = 16, .max_dead = 16};
  options.clock = [] { return uint64_t{1} << 40; };
  vesta::agent::ProcessTable table(registry, options);
  std::string_view rest = bytes;
  vesta::agent::SideBandEvent event;
  while (true) {
    const std::string_view record = vesta::agent::next_perf_record(rest);
    if (record.empty()) break;
    if (vesta::agent::decode_side_band(record, event) != vesta::agent::SideBandDecode::kEvent)
      continue;
    if (auto* mmap = std::get_if<vesta::agent::MmapEvent>(&event)) {
      const std::string_view text = mmap->path.empty() ? mmap->build_id : mmap->path;
      if (!text.empty() &&
          (text.data() < bytes.data() || text.data() + text.size() > bytes.data() + size)) {
        std::abort();
      }
      // No file of this machine is to be opened.
      if (mmap->path.starts_with('/')) mmap->path = "[file]";
    }
    table.apply(event);
    if (table.size() > options.max_processes) std::abort();
    if (const auto* mmap = std::get_if<vesta::agent::MmapEvent>(&event)) {
      table.find(mmap->pid, mmap->address, mmap->time_ns);
      uint64_t last_end = 0;
      const auto snapshot = table.mappings(mmap->pid);
      if (snapshot.mappings.size() > options.mappings.max_alive) std::abort();
      for (const vesta::agent::CodeMapping& mapping : snapshot.mappings) {
        if (mapping.start < last_end || mapping.end <= mapping.start) std::abort();
        last_end = mapping.end;
      }
    }
  }
  table.maintain();
  return 0;
}
