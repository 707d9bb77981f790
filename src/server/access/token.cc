#include "server/access/token.h"

#include <fmt/format.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>

#include "base/json_writer.h"
#include "formats/common/json_document.h"
#include "formats/otlp/base64.h"

namespace vesta::server {
namespace {

constexpr size_t kMaxTenant = 150;
constexpr size_t kMaxTokens = 10'000;

std::optional<TokenHash> parse_hash(std::string_view text) {
  const auto bytes = otlp::from_hex(text);
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
  return {ErrorCode::kInvalidInput, fmt::format("the file of tokens is damaged: {}", what),
          "restore it from a backup, or remove it and create new tokens"};
}

Result<TokenInfo> read_token(ondemand::object object) {
  TokenInfo token;
  for (auto field : object) {
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return damaged("not JSON");
    ondemand::value value;
    if (field.value().get(value) != simdjson::SUCCESS) return damaged("not JSON");
    if (key == "created_ns" || key == "expires_ns") {
      int64_t number = 0;
      if (value.get_int64().get(number) != simdjson::SUCCESS) return damaged(key);
      (key == "created_ns" ? token.created_ns : token.expires_ns) = number;
      continue;
    }
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return damaged(key);
    if (key == "name") token.name = text;
    if (key == "tenant") token.tenant = text;
    if (key == "scope") {
      VESTA_ASSIGN(token.scope, parse_scope(text));
    }
    if (key == "sha256") {
      const auto hash = parse_hash(text);
      if (!hash) return damaged("sha256");
      token.hash = *hash;
    }
  }
  VESTA_TRY(check_tenant_id(token.tenant));
  if (token.scope == Scope::kNone || token.hash == TokenHash{})
    return damaged("a field is missing");
  token.id = hex(token.hash).substr(0, 12);
  return token;
}

}  // namespace

Result<std::string> new_token_text() {
  std::array<uint8_t, 32> bytes{};
  if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Error{ErrorCode::kIo, "the system has no random numbers", {}};
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
  return otlp::to_hex(as_text(hash));
}

bool includes(Scope has, Scope needed) {
  return needed == Scope::kNone || has == Scope::kAdmin || has == needed;
}

Result<Scope> parse_scope(std::string_view text) {
  if (text == "read") return Scope::kRead;
  if (text == "write") return Scope::kWrite;
  if (text == "admin") return Scope::kAdmin;
  return Error{ErrorCode::kUsage, fmt::format("'{}' is no scope", text),
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
                 "it has up to 150 letters, digits and characters of !-_.*'()"};
  };
  if (tenant.empty()) return bad("is empty");
  if (tenant.size() > kMaxTenant) return bad("is longer than 150 characters");
  if (tenant == "." || tenant == "..") return bad("must not be . or ..");
  for (const char c : tenant) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && kAllowed.find(c) == std::string_view::npos) {
      return bad("has a character that is not allowed");
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
  JsonDocument document;
  VESTA_TRY(document.open("tokens", text));
  ondemand::object root;
  if (!document.root(root)) return damaged("not a JSON object");
  int64_t version = 0;
  if (root["version"].get_int64().get(version) != simdjson::SUCCESS) return damaged("no version");
  if (version != 1) {
    return Error{ErrorCode::kUnsupported, fmt::format("tokens are of version {}", version),
                 "this version of vesta knows version 1"};
  }
  ondemand::array array;
  if (root["tokens"].get_array().get(array) != simdjson::SUCCESS) return damaged("no list");
  std::vector<TokenInfo> tokens;
  for (auto element : array) {
    ondemand::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return damaged("a token is none");
    if (tokens.size() == kMaxTokens) return damaged("more than 10 000 tokens");
    VESTA_ASSIGN(TokenInfo token, read_token(object));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace vesta::server
