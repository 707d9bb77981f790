// The certificate that HTTPS connections show, read again when its file changes. Connections keep
// the one they began with. Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace boost::asio::ssl {
class context;
}

namespace vesta::server {

struct TlsFiles {
  std::string certificate;  // PEM, with its chain; empty = no TLS
  std::string key;
  std::string client_ca;  // clients must show a certificate of it; empty = they need none
  std::chrono::milliseconds check_interval{5000};  // for changed files

  bool enabled() const { return !certificate.empty(); }
};

class TlsContext {
 public:
  static Result<std::unique_ptr<TlsContext>> open(const TlsFiles& files);
  ~TlsContext();

  std::shared_ptr<boost::asio::ssl::context> current() const;

  enum class Change { kNone, kReloaded, kFailed };
  // Looks at the files. A pair that does not fit (one file is there, the other not yet) leaves the
  // old one in use, and is tried again the next time.
  Change reload_if_changed(std::string& problem);

 private:
  explicit TlsContext(TlsFiles files) : files_(std::move(files)) {}

  const TlsFiles files_;
  mutable Mutex lock_;
  std::shared_ptr<boost::asio::ssl::context> context_ GUARDED_BY(lock_);
  std::string stamp_ GUARDED_BY(lock_);
};

}  // namespace vesta::server
