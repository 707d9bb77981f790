#include "server/access/token_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mutex.h"
#include "server/file_stamp.h"

namespace vesta::server {
namespace {

constexpr uint64_t kMaxFileBytes = 16U << 20;
constexpr size_t kMaxNameBytes = 100;

Error write_error(const std::string& path) {
  return {ErrorCode::kIo, fmt::format("cannot write {}: {}", path, std::strerror(errno)),
          "run this command as the user of the server"};
}

// While it lives, no other process changes the file.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : fd_(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (fd_.valid()) held_ = ::flock(fd_.get(), LOCK_EX) == 0;
  }
  bool held() const { return held_; }

 private:
  UniqueFd fd_;
  bool held_ = false;
};

Status write_private_file(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!fd.valid()) return write_error(path);
  const auto fail = [&] {
    Error error = write_error(path);
    ::unlink(temporary.c_str());
    return error;
  };
  if (!write_all(fd.get(), bytes) || ::fsync(fd.get()) != 0) return fail();
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail();
  return {};
}

}  // namespace

std::string TokenStore::path_in(const std::string& data_directory) {
  return data_directory + "/tokens.json";
}

Result<std::unique_ptr<TokenStore>> TokenStore::open(std::string path) {
  std::unique_ptr<TokenStore> store(new TokenStore(std::move(path)));
  VESTA_TRY(store->load());
  return store;
}

TokenStore::Tokens TokenStore::tokens() const {
  const MutexLock guard(lock_);
  return tokens_;
}

Status TokenStore::load() {
  std::string stamp = file_stamp(path_);
  std::vector<TokenInfo> read;
  if (stamp != kNoFile) {
    auto file = InputFile::open(path_, kMaxFileBytes);
    if (!file) return with_context(file.error(), "tokens");
    auto parsed = read_tokens(file->bytes());
    if (!parsed) return with_context(parsed.error(), path_);
    read = std::move(*parsed);
  }
  const MutexLock guard(lock_);
  tokens_ = std::make_shared<const std::vector<TokenInfo>>(std::move(read));
  stamp_ = std::move(stamp);
  return {};
}

Status TokenStore::reload_if_changed() {
  {
    const MutexLock guard(lock_);
    if (stamp_ == file_stamp(path_)) return {};
  }
  return load();
}

Status TokenStore::replace(const std::vector<TokenInfo>& tokens) {
  VESTA_TRY(write_private_file(path_, write_tokens(tokens)));
  return load();
}

Result<TokenStore::Created> TokenStore::create(std::string name, std::string tenant, Scope scope,
                                               int64_t expires_ns) {
  VESTA_TRY(check_tenant_id(tenant));
  if (name.size() > kMaxNameBytes) {
    return Error{ErrorCode::kUsage, "the name is longer than 100 bytes", {}};
  }
  const FileLock lock(path_);
  if (!lock.held()) return write_error(path_);
  VESTA_TRY(load());
  Created created;
  VESTA_ASSIGN(created.text, new_token_text());
  created.info.hash = hash_token(created.text);
  created.info.id = hex(created.info.hash).substr(0, 12);
  created.info.name = name.empty() ? created.info.id : std::move(name);
  created.info.tenant = std::move(tenant);
  created.info.scope = scope;
  created.info.created_ns = unix_now().ns;
  created.info.expires_ns = expires_ns;
  std::vector<TokenInfo> all = *tokens();
  all.push_back(created.info);
  VESTA_TRY(replace(all));
  return created;
}

Result<TokenInfo> TokenStore::revoke(std::string_view id_or_name) {
  const FileLock lock(path_);
  if (!lock.held()) return write_error(path_);
  VESTA_TRY(load());
  std::vector<TokenInfo> all = *tokens();
  const auto matches = [&](const TokenInfo& token) {
    return token.name == id_or_name || (id_or_name.size() >= 4 && token.id.starts_with(id_or_name));
  };
  const auto count = std::ranges::count_if(all, matches);
  if (count == 0) {
    return Error{ErrorCode::kNotFound, fmt::format("no token '{}'", id_or_name),
                 "try vesta token list"};
  }
  if (count > 1) {
    return Error{ErrorCode::kUsage, fmt::format("{} tokens have the name '{}'", count, id_or_name),
                 "use the id from vesta token list"};
  }
  const auto found = std::ranges::find_if(all, matches);
  TokenInfo revoked = *found;
  all.erase(found);
  VESTA_TRY(replace(all));
  return revoked;
}

std::vector<TokenInfo> TokenStore::list() const {
  return *tokens();
}

bool TokenStore::empty() const {
  return tokens()->empty();
}

std::optional<TokenInfo> TokenStore::find(std::string_view text) const {
  const TokenHash hash = hash_token(text);
  const Tokens all = tokens();
  const TokenInfo* found = nullptr;
  for (const TokenInfo& token : *all) {
    if (::CRYPTO_memcmp(token.hash.data(), hash.data(), hash.size()) == 0) found = &token;
  }
  if (found == nullptr) return std::nullopt;
  return *found;
}

}  // namespace vesta::server
