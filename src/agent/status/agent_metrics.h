// What an agent tells about itself, as numbers that Prometheus scrapes. Plain data and pure
// functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/export/exporter.h"
#include "agent/jfr/jfr_folder.h"
#include "agent/metadata/kubernetes.h"
#include "agent/metadata/process_metadata.h"

namespace vesta::agent {

// How well the stacks of processes that run one binary came out.
struct BinaryStatus {
  std::string name;
  uint64_t stacks = 0;           // that ended in it or went through it
  uint64_t stacks_complete = 0;  // unwound to their outermost frame
  uint64_t frames = 0;
  uint64_t frames_named = 0;
  uint64_t frames_decoded = 0;  // found without unwind tables, from instructions
  uint64_t frames_guessed = 0;  // only likely
};

struct ExporterStatus {
  std::string name;
  ExporterStats stats;
};

struct AgentStatus {
  std::string version;
  uint64_t samples = 0;
  uint64_t uptime_ns = 0;
  std::map<std::string, uint64_t> lost;      // samples, by reason
  std::map<std::string, uint64_t> troubles;  // by reason; cost no sample
  uint64_t other_samples = 0;                // of processes that are no targets
  std::vector<BinaryStatus> binaries;
  std::vector<ExporterStatus> exporters;
  uint64_t own_cpu_ns = 0;
  uint64_t bpf_ns = 0;
  uint64_t bpf_runs = 0;
  uint64_t resident_bytes = 0;
  double cpu_share = 0;         // of a core, smoothed: own and BPF
  double sample_cpu_share = 0;  // the part of it that falls with the sampling rate
  double cpu_budget = 0;        // that it is kept below
  uint32_t rate = 0;            // in force
  uint32_t configured_rate = 0;
  uint64_t rate_changes = 0;
  struct WaitTotal {
    std::string state;
    uint64_t ns = 0;
    uint64_t count = 0;
  };
  std::vector<WaitTotal> waits;  // exact, whether sampled or not; none: not followed
  uint64_t wait_period_ns = 0;   // longer waits are all sampled
  uint64_t processes = 0;        // known
  uint64_t modules = 0;          // binaries with tables
  uint64_t windows = 0;
  uint64_t profiles = 0;
  uint64_t folded_frames = 0;  // that filters left out
  struct NameCacheStatus {
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t bytes = 0;
  } names;
  struct SymbolTableStatus {
    uint64_t opens = 0;
    uint64_t closes = 0;
    uint64_t open = 0;
    uint64_t bytes = 0;
    uint64_t budget_bytes = 0;
  } tables;
  uint64_t oldest_unnamed_ns = 0;  // age of that sample
  std::optional<ProcessMetadataStats> metadata;
  std::optional<KubernetesStats> kubernetes;  // when somebody is asked
  std::optional<JfrFolderStats> jfr;          // when folders are watched
  std::vector<std::string> problems;          // for which /healthz is not well
  std::vector<std::string> warnings;          // with which profiles are poorer, but true
};

// Of binaries the 100 with the most frames, and the others as one.
std::string agent_metrics_text(const AgentStatus& status);

}  // namespace vesta::agent
