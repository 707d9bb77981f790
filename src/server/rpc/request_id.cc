#include "server/rpc/request_id.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace vesta::server {

std::string new_request_id() {
  static thread_local std::mt19937_64 random = [] {
    std::random_device seed;
    return std::mt19937_64((uint64_t{seed()} << 32) | seed());
  }();
  return fmt::format("{:016x}", random());
}

}  // namespace vesta::server
