#include "server/config/config_file.h"

// Whatever the text is, it is applied or refused with its place; a configuration that was applied
// can be checked.
#include "server/config/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Host names would be looked up in the network.
  for (const char* key : {"http", "grpc"}) {
    if (text.find(key) != std::string_view::npos) return 0;
  }
  vesta::server::ServerConfig config;
  if (vesta::server::apply_config_text(config, text, "f").ok()) {
    (void)vesta::server::check_config(config);
  }
  return 0;
}
