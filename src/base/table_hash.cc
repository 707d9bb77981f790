#include "base/table_hash.h"

#include <random>

namespace vesta {

const TableSecret& table_secret() {
  static const TableSecret kSecret = [] {
    std::random_device device;
    const auto random64 = [&] { return uint64_t{device()} << 32 | device(); };
    TableSecret secret{};
    for (uint64_t& word : secret.bytes) word = random64();
    secret.start = random64();
    secret.step = random64() | 1;  // odd, so that multiplying by it loses nothing
    return secret;
  }();
  return kSecret;
}

}  // namespace vesta
