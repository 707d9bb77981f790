// The tokens of a server, in one file that only its owner can read, replaced as a whole. The server
// reads it again when it has changed, so that `vesta token` works beside it. Thread-safe; several
// processes may change the file, one after the other (a lock file keeps them apart).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "server/access/token.h"

namespace vesta::server {

class TokenStore {
 public:
  // The file in a data directory.
  static std::string path_in(const std::string& data_directory);
  // A file that is not there holds no tokens.
  static Result<std::unique_ptr<TokenStore>> open(std::string path);

  struct Created {
    TokenInfo info;
    std::string text;  // shown once, never stored
  };
  Result<Created> create(std::string name, std::string tenant, Scope scope, int64_t expires_ns);
  // By id, or the beginning of one, or a name that only one has. Returns what was revoked.
  Result<TokenInfo> revoke(std::string_view id_or_name);

  std::vector<TokenInfo> list() const;
  bool empty() const;
  // The token with that text, expired or not. Takes the same time wherever the difference is.
  std::optional<TokenInfo> find(std::string_view text) const;

  // Reads the file again if it is another one than the last time. A file that cannot be read leaves
  // the tokens as they were.
  Status reload_if_changed();

 private:
  explicit TokenStore(std::string path) : path_(std::move(path)) {}
  using Tokens = std::shared_ptr<const std::vector<TokenInfo>>;
  Tokens tokens() const;
  Status load();
  Status replace(const std::vector<TokenInfo>& tokens);

  const std::string path_;
  mutable Mutex lock_;
  Tokens tokens_ GUARDED_BY(lock_) = std::make_shared<const std::vector<TokenInfo>>();
  std::string stamp_ GUARDED_BY(lock_);
};

}  // namespace vesta::server
