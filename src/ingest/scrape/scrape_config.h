// What to fetch from where, how often: jobs as in Prometheus and Parca. Plain data, and how it is
// read from YAML.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/result.h"
#include "base/time.h"
#include "config/field.h"
#include "config/relabel.h"

namespace vesta {

struct ScrapeProfile {
  std::string name;  // the family: "process_cpu"
  std::string path;
  bool enabled = true;
  bool delta = false;    // counters run since the start of the program
  bool seconds = false;  // the program records for a while before it answers
};

struct TargetGroup {
  std::vector<std::string> targets;  // "host:port"
  Labels labels;
};

struct FileDiscovery {
  std::vector<std::string> files;  // the last part of a path may hold *
  int64_t refresh_ns = 30 * kSecond;
};

struct ScrapeJob {
  std::string name;
  std::string tenant = "anonymous";
  std::string scheme = "http";
  std::string path_prefix;
  int64_t interval_ns = 15 * kSecond;
  int64_t timeout_ns = 10 * kSecond;  // beyond what a recording takes
  std::string bearer_token;
  std::vector<ScrapeProfile> profiles;
  std::vector<TargetGroup> static_targets;
  std::vector<FileDiscovery> files;
  std::vector<RelabelRule> relabel;
};

struct ScrapeConfig {
  std::vector<ScrapeJob> jobs;
};

// What Go serves at /debug/pprof: process_cpu, memory, goroutine, mutex, block.
std::vector<ScrapeProfile> default_scrape_profiles();

// The key `scrape_configs`, a list of jobs.
config::Field scrape_field(ScrapeConfig& config);

// The groups of a file of targets, YAML or JSON: [{"targets": [...], "labels": {...}}]. kUsage with
// file, line and column for anything that is wrong, an unknown key too.
Result<std::vector<TargetGroup>> parse_target_file(const std::string& text,
                                                   const std::string& file_name);

}  // namespace vesta
