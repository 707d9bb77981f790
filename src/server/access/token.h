// A token: 256 random bits that a client shows, and what we keep of it. Only the SHA-256 of a token
// is stored. A slow hash, as for passwords, would buy nothing: nobody can search 2^256 tokens, and
// every request would pay. Plain data and pure functions, but for the random bits.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/api.h"

namespace vesta::server {

using TokenHash = std::array<uint8_t, 32>;

struct TokenInfo {
  std::string id;  // the first 12 digits of the hash: enough to name it, no help to guess it
  std::string name;
  std::string tenant;
  Scope scope = Scope::kNone;
  int64_t created_ns = 0;
  int64_t expires_ns = 0;  // 0 = never
  TokenHash hash{};
};

inline constexpr std::string_view kTokenPrefix = "vesta_";

// "vesta_" and 43 characters. kIo when the system has no random numbers.
Result<std::string> new_token_text();
TokenHash hash_token(std::string_view text);
std::string hex(const TokenHash& hash);

// A token's scope includes what is asked for: admin includes all.
bool includes(Scope has, Scope needed);
Result<Scope> parse_scope(std::string_view text);
std::string_view scope_name(Scope scope);

// Tenant ids as Pyroscope has them: up to 150 of A-Z a-z 0-9 ! - _ . * ' ( ), and neither "." nor
// "..". kInvalidInput says what is wrong.
Status check_tenant_id(std::string_view tenant);

// The document that tokens are kept in. kInvalidInput when it is damaged.
std::string write_tokens(const std::vector<TokenInfo>& tokens);
Result<std::vector<TokenInfo>> read_tokens(std::string_view text);

}  // namespace vesta::server
