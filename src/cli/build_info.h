// Which build this is. Its definition is a small source that cmake/build_info.cmake writes, so that
// a new commit compiles that file alone. The version is that of project() in CMakeLists.txt.
#pragma once

#include <string_view>

namespace vesta::cli {

struct BuildInfo {
  std::string_view version;   // "0.1.0"
  std::string_view commit;    // "63d4f26c0a1b", with "-dirty" for changed sources; "unknown"
  std::string_view build;     // "Release", "Debug with address,undefined"
  std::string_view compiler;  // "GNU 12.2.0"
};

BuildInfo build_info();

}  // namespace vesta::cli
