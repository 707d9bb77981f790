#include "server/http/connection_cap.h"

#include <sys/resource.h>

namespace vesta::server {
namespace {

// What the rest of the process needs, whatever clients do.
constexpr size_t kReservedFiles = 512;

size_t files_for_connections() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kReservedFiles;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  const size_t files = limit.rlim_cur;
  return files > 2 * kReservedFiles ? files - kReservedFiles : files / 2;
}

}  // namespace

// A client of gRPC keeps one connection for all its calls; browsers and SDKs have several each.
size_t http_connection_cap() {
  return files_for_connections() / 4 * 3;
}

size_t grpc_connection_cap() {
  return files_for_connections() / 4;
}

}  // namespace vesta::server
