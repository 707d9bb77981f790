// Who may do what, and as which tenant: tokens first, then the tenant header, then everybody as
// "anonymous". Refers to the store, which must outlive it. Thread-safe.
#pragma once

#include "base/clock.h"
#include "server/access/token_store.h"
#include "server/rpc/dispatcher.h"

namespace vesta::server {

struct AccessRules {
  bool tokens_required = false;
  bool multi_tenant = false;  // without tokens, X-Scope-OrgID names the tenant
};

class Access {
 public:
  Access(const TokenStore& tokens, AccessRules rules, UnixClock clock = unix_now);

  // kUnauthenticated: no token, an unknown or expired one, or no tenant; kPermission: a token that
  // may not do this; kInvalidInput: a bad tenant id. Scope::kNone is open to all.
  Result<Caller> admit(const Credentials& credentials, Scope needed) const;

 private:
  Result<std::string> tenant_of(const Credentials& credentials) const;

  const TokenStore& tokens_;
  const AccessRules rules_;
  const UnixClock clock_;
};

}  // namespace vesta::server
