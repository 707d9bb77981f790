#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/time_words.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/private_files.h"
#include "cli/roles/server_flags.h"
#include "reports/print/text_style.h"
#include "server/access/token_store.h"

namespace vesta::cli {
namespace {

using server::TokenInfo;
using server::TokenStore;

std::string time_text(int64_t unix_ns) {
  return unix_ns == 0 ? "never" : utc_text(UnixNs(unix_ns)).substr(0, 16) + "Z";
}

void write_json(JsonWriter& json, const TokenInfo& token) {
  json.field("id", token.id)
      .field("name", token.name)
      .field("tenant", token.tenant)
      .field("scope", server::scope_name(token.scope))
      .field("created", utc_text(UnixNs(token.created_ns)));
  if (token.expires_ns != 0) json.field("expires", utc_text(UnixNs(token.expires_ns)));
}

Result<int64_t> expiry_of(const Arguments& arguments) {
  if (!arguments.has("expires")) return int64_t{0};
  const auto time = parse_duration_ns(arguments.get("expires"));
  if (!time || *time <= 0 || *time > 3650 * kDay) {
    return Error{ErrorCode::kUsage,
                 fmt::format("'{}' is not a valid time", arguments.get("expires")),
                 "use a duration up to 3650d, such as 12h or 30d"};
  }
  return unix_now().ns + *time;
}

Result<int> create(const Arguments& arguments, TokenStore& store, Console& console) {
  if (!arguments.has("scope") || !arguments.has("tenant")) {
    return Error{ErrorCode::kUsage, "a token needs a scope and a tenant",
                 "try vesta token create --scope write --tenant anonymous"};
  }
  VESTA_ASSIGN(const server::Scope scope, server::parse_scope(arguments.get("scope")));
  VESTA_ASSIGN(const int64_t expires_ns, expiry_of(arguments));
  auto created = store.create(arguments.get("name"), arguments.get("tenant"), scope, expires_ns);
  if (!created) return created.error();
  if (arguments.get("output") == "json") {
    JsonWriter json;
    json.begin_object().field("token", created->text);
    write_json(json, created->info);
    VESTA_TRY(console.print(json.end_object().take() + "\n"));
    return kOk;
  }
  VESTA_TRY(console.print(created->text + "\n"));
  console.note(fmt::format("token {}: scope {}, tenant {}, expires {}; it is shown only once",
                           printable(created->info.name), arguments.get("scope"),
                           arguments.get("tenant"), time_text(expires_ns)));
  return kOk;
}

Result<int> list(const Arguments& arguments, const TokenStore& store, Console& console) {
  const std::vector<TokenInfo> tokens = store.list();
  if (arguments.get("output") == "json") {
    JsonWriter json(2);
    json.begin_object().key("tokens").begin_array();
    for (const TokenInfo& token : tokens) {
      json.begin_object();
      write_json(json, token);
      json.end_object();
    }
    VESTA_TRY(console.print(json.end_array().end_object().take() + "\n"));
    return kOk;
  }
  if (tokens.empty()) {
    return Error{ErrorCode::kNoData, "no tokens exist", "try vesta token create"};
  }
  size_t name = 4;
  size_t tenant = 6;
  for (const TokenInfo& token : tokens) {
    name = std::max(name, printable(token.name).size());
    tenant = std::max(tenant, token.tenant.size());
  }
  std::string out = fmt::format("{:<12}  {:<{}}  {:<{}}  {:<5}  {:<17}  {}\n", "ID", "NAME", name,
                                "TENANT", tenant, "SCOPE", "CREATED", "EXPIRES");
  for (const TokenInfo& token : tokens) {
    const bool expired = token.expires_ns != 0 && token.expires_ns <= unix_now().ns;
    out += fmt::format("{:<12}  {:<{}}  {:<{}}  {:<5}  {:<17}  {}{}\n", token.id,
                       printable(token.name), name, token.tenant, tenant,
                       server::scope_name(token.scope), time_text(token.created_ns),
                       time_text(token.expires_ns), expired ? " (expired)" : "");
  }
  VESTA_TRY(console.print(out));
  return kOk;
}

Result<int> run_token(const Arguments& arguments, Console& console) {
  keep_files_private();
  const std::string& action = arguments.positional[0];
  VESTA_ASSIGN(const server::ServerConfig config, server_config_of(arguments));
  if (action == "create") {
    std::error_code error;
    if (std::filesystem::create_directories(config.data, error)) {
      std::filesystem::permissions(config.data, std::filesystem::perms::owner_all, error);
    }
  }
  VESTA_ASSIGN(const std::unique_ptr<TokenStore> store,
               TokenStore::open(TokenStore::path_in(config.data)));
  const size_t wanted = action == "revoke" ? 2 : 1;
  if (arguments.positional.size() != wanted) {
    return Error{ErrorCode::kUsage,
                 action == "revoke"
                     ? "revoke needs the id or name of a token"
                     : fmt::format("unexpected argument '{}'", arguments.positional[1]),
                 "try vesta token --help"};
  }
  if (action == "create") return create(arguments, *store, console);
  if (action == "list") return list(arguments, *store, console);
  if (action == "revoke") {
    VESTA_ASSIGN(const TokenInfo revoked, store->revoke(arguments.positional[1]));
    console.note(fmt::format("revoked {} ({}); a running server rejects it within a second",
                             printable(revoked.name), revoked.id));
    return kOk;
  }
  return Error{ErrorCode::kUsage, fmt::format("unknown action '{}'", action),
               "use create, list or revoke"};
}

}  // namespace

Command token_command() {
  Command c;
  c.name = "token";
  c.summary = "Create, list or revoke tokens of a server";
  c.arguments = "create|list|revoke [ID|NAME]";
  c.description =
      "A token allows its owner to read, to write, or both plus administration (admin), for one "
      "tenant. Clients send it as Authorization: Bearer TOKEN, or as the password of basic "
      "authentication. Only its hash is stored, in the data directory; a running server notices "
      "changes within a second.";
  c.examples = {"vesta token create --scope write --tenant anonymous --name ci --expires 30d",
                "vesta token list", "vesta token revoke ci"};
  c.min_arguments = 1;
  c.max_arguments = 2;
  std::vector<Flag> flags = server_place_flags();
  const std::vector<Flag> own = {
      {"scope", 0, "SCOPE", "read, write or admin", {"read", "write", "admin"}},
      {"tenant", 0, "TENANT", "tenant of the token"},
      {"name", 0, "NAME", "name in lists and in the audit log"},
      {"expires", 0, "TIME", "lifetime: 30d (default: unlimited)"},
      {"output", 'o', "FORMAT", "text or json (default text)", {"text", "json"}}};
  flags.insert(flags.end(), own.begin(), own.end());
  c.flags = with_flags(std::move(flags), {});
  c.run = run_token;
  return c;
}

}  // namespace vesta::cli
