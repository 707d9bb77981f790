#include "config/yaml.h"

#include "config/show.h"

// Any text is a tree or an error; a tree can be shown.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto document = vesta::config::parse_yaml({reinterpret_cast<const char*>(data), size}, "f");
  if (document) (void)vesta::config::show_yaml(document->root, {});
  return 0;
}
