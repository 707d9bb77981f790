// Where source code lies on the server's machine: what profiles call `prefix`… is in `folder`…
// Plain data.
#pragma once

#include <string>

namespace vesta::server {

struct SourceFolder {
  std::string prefix;  // of paths as binaries have them: "/build/app"; empty = of any
  std::string folder;
};

}  // namespace vesta::server
