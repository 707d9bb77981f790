#include "config/yaml.h"
#include "ingest/scrape/scrape_config.h"
#include "ingest/scrape/targets.h"

// Any text is a configuration or an error, and rules can be applied to anything.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)vesta::parse_target_file(text, "f");
  const auto document = vesta::config::parse_yaml(text, "f");
  if (!document) return 0;
  vesta::ScrapeConfig config;
  vesta::config::Findings findings;
  vesta::config::read_document(*document, {vesta::scrape_field(config)}, findings);
  if (!findings.status().ok()) return 0;
  for (const vesta::ScrapeJob& job : config.jobs) {
    for (const vesta::TargetGroup& group : job.static_targets) {
      for (const std::string& address : group.targets) {
        vesta::ScrapeTarget target;
        (void)vesta::make_target(job, address, group.labels, target);
      }
    }
  }
  return 0;
}
