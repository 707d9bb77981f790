#include "ingest/scrape/scrape_config.h"
#include "ingest/scrape/targets.h"

// Any text is a configuration or an error, and rules can be applied to anything.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)vesta::parse_target_file(text, "f");
  const auto config = vesta::parse_scrape_config(text, "f");
  if (!config) return 0;
  for (const vesta::ScrapeJob& job : config->jobs) {
    for (const vesta::TargetGroup& group : job.static_targets) {
      for (const std::string& address : group.targets) {
        vesta::ScrapeTarget target;
        (void)vesta::make_target(job, address, group.labels, target);
      }
    }
  }
  return 0;
}
