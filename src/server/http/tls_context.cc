#include "server/http/tls_context.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>

#include "base/mutex.h"
#include "server/file_stamp.h"

namespace vesta::server {
namespace {

namespace ssl = boost::asio::ssl;

std::string stamp_of(const TlsFiles& files) {
  return file_stamp(files.certificate) + "|" + file_stamp(files.key) + "|" +
         file_stamp(files.client_ca);
}

Error tls_error(std::string_view what, const std::string& path,
                const boost::system::error_code& error) {
  return {ErrorCode::kInvalidInput,
          fmt::format("cannot use the {} in {}: {}", what, path, error.message()),
          "use a PEM file that this process can read"};
}

// HTTP/2 where the client speaks it, else HTTP/1.1. One that names neither, and so would read what
// follows as something else, is refused (RFC 7301, 3.2).
int choose_protocol(SSL* /*connection*/, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned offered_size, void* /*nothing*/) {
  static constexpr unsigned char kOurs[] = "\x02h2\x08http/1.1";
  unsigned char* name = nullptr;
  if (::SSL_select_next_proto(&name, chosen_size, kOurs, sizeof(kOurs) - 1, offered,
                              offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = name;
  return SSL_TLSEXT_ERR_OK;
}

Result<std::shared_ptr<ssl::context>> load(const TlsFiles& files) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_compression |
                           ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
                       error);
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // A client cannot make us negotiate over and over, and idle connections give their buffers back.
  ::SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  ::SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_alpn_select_cb(context->native_handle(), choose_protocol, nullptr);
  if (context->use_certificate_chain_file(files.certificate, error)) {
    return tls_error("certificate", files.certificate, error);
  }
  if (context->use_private_key_file(files.key, ssl::context::pem, error)) {
    return tls_error("key", files.key, error);
  }
  if (::SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("the key in {} does not match the certificate in {}", files.key,
                             files.certificate),
                 {}};
  }
  if (!files.client_ca.empty()) {
    if (context->load_verify_file(files.client_ca, error)) {
      return tls_error("client CA", files.client_ca, error);
    }
    context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
    // OpenSSL refuses to resume sessions of verified clients without one.
    static constexpr unsigned char kSessionContext[] = "vesta";
    ::SSL_CTX_set_session_id_context(context->native_handle(), kSessionContext,
                                     sizeof(kSessionContext) - 1);
  }
  return context;
}

}  // namespace

TlsContext::~TlsContext() = default;

Result<std::unique_ptr<TlsContext>> TlsContext::open(const TlsFiles& files) {
  std::unique_ptr<TlsContext> tls(new TlsContext(files));
  // Before the files are read: a change in between is seen the next time.
  const MutexLock guard(tls->lock_);
  tls->stamp_ = stamp_of(files);
  VESTA_ASSIGN(tls->context_, load(files));
  return tls;
}

std::shared_ptr<ssl::context> TlsContext::current() const {
  const MutexLock guard(lock_);
  return context_;
}

TlsContext::Change TlsContext::reload_if_changed(std::string& problem) {
  std::string stamp = stamp_of(files_);
  {
    const MutexLock guard(lock_);
    if (stamp == stamp_) return Change::kNone;
  }
  auto context = load(files_);
  if (!context) {
    problem = context.error().message;
    return Change::kFailed;
  }
  const MutexLock guard(lock_);
  context_ = std::move(*context);
  stamp_ = std::move(stamp);
  return Change::kReloaded;
}

}  // namespace vesta::server
