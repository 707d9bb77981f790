#include "server/access/token.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>

#include "base/hex.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "formats/otlp/base64.h"

namespace vesta::server {
namespace {

constexpr size_t kMaxTenant = 150;
constexpr size_t kMaxTokens = 10'000;

std::optional<TokenHash> parse_hash(std::string_view text) {
  const auto bytes = from_hex(text);
  TokenHash hash{};
  if (!bytes || bytes->size() != hash.size()) return std::nullopt;
  std::ranges::copy(*bytes, hash.begin());
  return hash;
}

template <size_t N>
std::string_view as_text(const std::array<uint8_t, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error damaged(std::string_view what) {
  return {ErrorCode::kInvalidInput, fmt::format("the token file is damaged: {}", what),
          "restore it from a backup, or remove it and create new tokens"};
}

Result<TokenInfo> read_token(const Json& json) {
  TokenInfo token;
  VESTA_ASSIGN(token.name, json["name"].text());
  VESTA_ASSIGN(token.tenant, json["tenant"].text());
  VESTA_ASSIGN(const std::string_view scope, json["scope"].text());
  VESTA_ASSIGN(token.scope, parse_scope(scope));
  VESTA_ASSIGN(token.created_ns, json["created_ns"].integer());
  VESTA_ASSIGN(token.expires_ns, json["expires_ns"].integer());
  VESTA_ASSIGN(const std::string_view text, json["sha256"].text());
  const auto hash = parse_hash(text);
  if (!hash || *hash == TokenHash{})
    return Error{ErrorCode::kInvalidInput, "field 'sha256' must be a SHA-256 in hex", ""};
  token.hash = *hash;
  VESTA_TRY(check_tenant_id(token.tenant));
  token.id = hex(token.hash).substr(0, 12);
  return token;
}

}  // namespace

Result<std::string> new_token_text() {
  std::array<uint8_t, 32> bytes{};
  if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Error{ErrorCode::kIo, "cannot get random numbers from the system", {}};
  }
  // In the alphabet for URLs, so that a token can stand anywhere.
  std::string text = otlp::to_base64(as_text(bytes));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.resize(text.find_last_not_of('=') + 1);
  return std::string(kTokenPrefix) + text;
}

TokenHash hash_token(std::string_view text) {
  TokenHash hash{};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  return hash;
}

std::string hex(const TokenHash& hash) {
  return to_hex(as_text(hash));
}

bool includes(Scope has, Scope needed) {
  return needed == Scope::kNone || has == Scope::kAdmin || has == needed;
}

Result<Scope> parse_scope(std::string_view text) {
  if (text == "read") return Scope::kRead;
  if (text == "write") return Scope::kWrite;
  if (text == "admin") return Scope::kAdmin;
  return Error{ErrorCode::kUsage, fmt::format("'{}' is not a valid scope", text),
               "use read, write or admin"};
}

std::string_view scope_name(Scope scope) {
  switch (scope) {
    case Scope::kNone:
      return "none";
    case Scope::kRead:
      return "read";
    case Scope::kWrite:
      return "write";
    case Scope::kAdmin:
      return "admin";
  }
  return "none";
}

Status check_tenant_id(std::string_view tenant) {
  constexpr std::string_view kAllowed = "!-_.*'()";
  const auto bad = [](std::string why) {
    return Error{ErrorCode::kInvalidInput, "the tenant id " + std::move(why),
                 "use up to 150 letters, digits and characters of !-_.*'()"};
  };
  if (tenant.empty()) return bad("is empty");
  if (tenant.size() > kMaxTenant) return bad("is longer than 150 characters");
  if (tenant == "." || tenant == "..") return bad("must not be . or ..");
  for (const char c : tenant) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && kAllowed.find(c) == std::string_view::npos) {
      return bad("contains an invalid character");
    }
  }
  return {};
}

std::string write_tokens(const std::vector<TokenInfo>& tokens) {
  JsonWriter json(2);
  json.begin_object().field("version", int64_t{1}).key("tokens").begin_array();
  for (const TokenInfo& token : tokens) {
    json.begin_object()
        .field("name", token.name)
        .field("tenant", token.tenant)
        .field("scope", scope_name(token.scope))
        .field("sha256", hex(token.hash))
        .field("created_ns", token.created_ns)
        .field("expires_ns", token.expires_ns)
        .end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

Result<std::vector<TokenInfo>> read_tokens(std::string_view text) {
  const auto tree = JsonTree::parse(text);
  if (!tree) return damaged(tree.error().message);
  const auto version = tree->root()["version"].integer();
  if (!version) return damaged(version.error().message);
  if (*version != 1) {
    return Error{ErrorCode::kUnsupported, fmt::format("unsupported version {}", *version),
                 "this version of Vesta supports version 1"};
  }
  const auto list = tree->root()["tokens"].list();
  if (!list) return damaged(list.error().message);
  if (list->size() > kMaxTokens) return damaged("more than 10 000 tokens");
  std::vector<TokenInfo> tokens;
  for (const Json& item : *list) {
    auto token = read_token(item);
    if (!token) return damaged(token.error().message);
    tokens.push_back(std::move(*token));
  }
  return tokens;
}

}  // namespace vesta::server
