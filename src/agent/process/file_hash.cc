#include "agent/process/file_hash.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <span>

#include "agent/process/elf_head.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kPartBytes = 4096;
constexpr size_t kHashBytes = 16;

}  // namespace

std::string file_hash(int fd, uint64_t bytes) {
  const auto part = static_cast<size_t>(std::min(bytes, kPartBytes));
  std::array<char, 2 * kPartBytes + sizeof(uint64_t)> content{};
  const std::span<char> head(content.data(), part);
  const std::span<char> tail(content.data() + part, part);
  if (read_at(fd, 0, head) != part || read_at(fd, bytes - part, tail) != part) return {};
  for (size_t i = 0; i < sizeof bytes; ++i)
    content[2 * part + i] = static_cast<char>(bytes >> (56 - 8 * i));
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(content.data()), 2 * part + sizeof bytes,
           digest.data());
  return BuildId{std::string(digest.begin(), digest.begin() + kHashBytes)}.hex();
}

}  // namespace vesta::agent
