#include "agent/process/file_hash.h"

#include <fmt/format.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace vesta {
namespace {

constexpr uint64_t kPartBytes = 4096;
constexpr size_t kHashBytes = 16;

bool read_all(int fd, uint64_t offset, std::span<unsigned char> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (got <= 0) return false;
    offset += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
  return true;
}

}  // namespace

std::string file_hash(int fd, uint64_t bytes) {
  const auto part = static_cast<size_t>(std::min(bytes, kPartBytes));
  std::array<unsigned char, 2 * kPartBytes + sizeof(uint64_t)> content{};
  const std::span<unsigned char> head(content.data(), part);
  const std::span<unsigned char> tail(content.data() + part, part);
  if (!read_all(fd, 0, head) || !read_all(fd, bytes - part, tail)) return {};
  for (size_t i = 0; i < sizeof bytes; ++i)
    content[2 * part + i] = static_cast<unsigned char>(bytes >> (56 - 8 * i));
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(content.data(), 2 * part + sizeof bytes, digest.data());
  std::string hex;
  for (const unsigned char byte : std::span(digest).first(kHashBytes))
    fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
  return hex;
}

}  // namespace vesta
