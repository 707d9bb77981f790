// The targets of a job: addresses with labels, after relabelling. Reads files of targets; otherwise
// pure functions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/scrape/scrape_config.h"

namespace vesta {

struct ScrapeTarget {
  std::string job;
  std::string url;  // scheme, address and prefix, without the path of a profile
  Labels labels;    // without those that begin with "__"
};

// One address with the labels that rules see: __address__, __scheme__, __meta_*, job. False when a
// rule drops it, or when nothing is left that could be asked.
bool make_target(const ScrapeJob& job, const std::string& address, const Labels& labels,
                 ScrapeTarget& target);

// All targets of the job, each once. Files that cannot be read are left out and told of in
// `problems`.
std::vector<ScrapeTarget> find_targets(const ScrapeJob& job, std::vector<Error>& problems);

}  // namespace vesta
