#include "server/access/access.h"

#include <fmt/format.h>

#include "base/log.h"
#include "server/http/http_text.h"

namespace vesta::server {

Access::Access(const TokenStore& tokens, AccessRules rules, UnixClock clock)
    : tokens_(tokens), rules_(rules), clock_(std::move(clock)) {}

Result<std::string> Access::tenant_of(const Credentials& credentials) const {
  if (!rules_.multi_tenant) return std::string("anonymous");
  if (credentials.org_id.empty()) {
    return Error{ErrorCode::kUnauthenticated, "the tenant is missing",
                 "send the header X-Scope-OrgID"};
  }
  VESTA_TRY(check_tenant_id(credentials.org_id));
  return std::string(credentials.org_id);
}

Result<Caller> Access::admit(const Credentials& credentials, Scope needed) const {
  Caller caller;
  caller.address = credentials.address;
  if (needed == Scope::kNone) return caller;
  const auto secret = secret_of(credentials.authorization);
  std::optional<TokenInfo> token;
  if (secret) token = tokens_.find(*secret);
  if (!token) {
    // Where no token is needed, clients may send the credentials of whatever stands in front of
    // other servers. One of our own that we do not know any more was revoked.
    const bool ours = secret && secret->starts_with(kTokenPrefix);
    if (rules_.tokens_required || ours) {
      return Error{ErrorCode::kUnauthenticated,
                   secret ? "unknown token" : "this server requires a token",
                   "send Authorization: Bearer TOKEN; `vesta token create` creates one"};
    }
    VESTA_ASSIGN(caller.tenant, tenant_of(credentials));
    return caller;
  }
  if (token->expires_ns != 0 && token->expires_ns <= clock_().ns) {
    return Error{ErrorCode::kUnauthenticated,
                 fmt::format("the token {} has expired", header_safe(token->name)),
                 "create a new one with `vesta token create`"};
  }
  if (!includes(token->scope, needed)) {
    return Error{
        ErrorCode::kPermission,
        fmt::format("the token {} has the scope {}, but this request needs {}",
                    header_safe(token->name), scope_name(token->scope), scope_name(needed)),
        fmt::format("use a token with scope {}", scope_name(needed))};
  }
  // A client that names another tenant would be surprised by where its data goes.
  if (rules_.multi_tenant && !credentials.org_id.empty() && credentials.org_id != token->tenant) {
    return Error{ErrorCode::kPermission, "the token belongs to another tenant than X-Scope-OrgID",
                 "remove the header; the token determines the tenant"};
  }
  caller.tenant = token->tenant;
  caller.token = token->name;
  for (const Scope scope : {Scope::kRead, Scope::kWrite, Scope::kAdmin})
    if (includes(token->scope, scope)) caller.scopes.push_back(scope_name(scope));
  return caller;
}

}  // namespace vesta::server
