#include "config/show.h"
#include "config/yaml.h"
#include "server/config/server_fields.h"

// Whatever the text is, it is applied or refused with its place; a configuration that was applied
// can be checked and shown.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Host names would be looked up in the network.
  for (const char* key : {"http", "grpc"}) {
    if (text.find(key) != std::string_view::npos) return 0;
  }
  const auto document = vesta::config::parse_yaml(text, "f");
  if (!document) return 0;
  vesta::server::ServerConfig config;
  const auto fields = vesta::server::server_fields(config);
  vesta::config::Findings findings;
  vesta::config::read_document(*document, fields, findings);
  if (findings.status().ok()) (void)vesta::server::check_config(config);
  (void)vesta::config::show_yaml(vesta::config::show_fields(fields), findings.origins);
  return 0;
}
