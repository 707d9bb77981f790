#include "agent/config/agent_fields.h"
#include "agent/config/exporter_fields.h"
#include "config/show.h"
#include "config/yaml.h"

// Whatever the text is, it is applied or refused with its place. What was applied can be shown, and
// what is shown loads again, secrets apart.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vesta;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)agent::parse_headers(text);
  const auto document = config::parse_yaml(text, "f");
  if (!document) return 0;
  agent::AgentConfig first;
  const config::Fields fields = agent::agent_fields(first);
  config::Findings findings;
  config::read_document(*document, fields, findings);
  agent::finish_agent_config(first, findings, [&](const std::string&) -> Result<std::string> {
    return std::string(text);
  });
  const std::string shown = config::show_yaml(config::show_fields(fields), findings.origins);
  (void)config::show_json(config::show_fields(fields), findings.origins);
  if (!findings.status().ok()) return 0;
  const auto again = config::parse_yaml(shown, "shown");
  if (!again) __builtin_trap();
  agent::AgentConfig second;
  config::Findings more;
  config::read_document(*again, agent::agent_fields(second), more);
  if (!more.status().ok()) __builtin_trap();
  return 0;
}
