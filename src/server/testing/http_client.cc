#include "server/testing/http_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "base/text.h"
#include "server/http/http_text.h"

namespace vesta::server::testing {
namespace {

UniqueFd connect_to(uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval limit{10, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fd.reset();
  return fd;
}

}  // namespace

struct HttpClient::Tls {
  SSL_CTX* context = nullptr;
  SSL* ssl = nullptr;
  bool established = false;
  ~Tls() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
};

HttpClient::HttpClient(uint16_t port) : socket_(connect_to(port)) {}

HttpClient::HttpClient(uint16_t port, const ClientTls& tls)
    : socket_(connect_to(port)), tls_(std::make_unique<Tls>()) {
  tls_->context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_load_verify_locations(tls_->context, tls.ca.c_str(), nullptr);
  SSL_CTX_set_verify(tls_->context, SSL_VERIFY_PEER, nullptr);
  if (!tls.certificate.empty()) {
    SSL_CTX_use_certificate_file(tls_->context, tls.certificate.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(tls_->context, tls.key.c_str(), SSL_FILETYPE_PEM);
  }
  tls_->ssl = SSL_new(tls_->context);
  SSL_set_fd(tls_->ssl, socket_.get());
  tls_->established = SSL_connect(tls_->ssl) == 1;
}

HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;

bool HttpClient::connected() const {
  return socket_.valid() && (tls_ == nullptr || tls_->established);
}

bool HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const long sent = tls_ != nullptr
                          ? SSL_write(tls_->ssl, bytes.data(), static_cast<int>(bytes.size()))
                          : ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void HttpClient::finish_sending() {
  ::shutdown(socket_.get(), SHUT_WR);
}

long HttpClient::read_some(char* data, size_t size) {
  if (tls_ != nullptr) return SSL_read(tls_->ssl, data, static_cast<int>(size));
  return ::recv(socket_.get(), data, size, 0);
}

std::optional<Reply> HttpClient::read_reply(bool head_only) {
  std::array<char, 16384> block{};
  size_t head_end = 0;
  while ((head_end = pending_.find("\r\n\r\n")) == std::string::npos) {
    const long got = read_some(block.data(), block.size());
    if (got <= 0) return std::nullopt;
    pending_.append(block.data(), static_cast<size_t>(got));
  }
  Reply reply;
  std::string_view head = std::string_view(pending_).substr(0, head_end);
  if (head.size() < 12) return std::nullopt;
  reply.status = std::atoi(std::string(head.substr(9, 3)).c_str());
  for (size_t at = head.find("\r\n"); at != std::string_view::npos;) {
    head.remove_prefix(at + 2);
    at = head.find("\r\n");
    const std::string_view line = head.substr(0, at);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    reply.headers.emplace(lower_case(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  pending_.erase(0, head_end + 4);
  const auto length = reply.headers.find("content-length");
  const size_t size = length == reply.headers.end() || head_only || reply.status < 200
                          ? 0
                          : std::strtoull(length->second.c_str(), nullptr, 10);
  while (pending_.size() < size) {
    const long got = read_some(block.data(), block.size());
    if (got <= 0) return std::nullopt;
    pending_.append(block.data(), static_cast<size_t>(got));
  }
  reply.body = pending_.substr(0, size);
  pending_.erase(0, size);
  return reply;
}

bool HttpClient::closed_within(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  std::array<char, 4096> block{};
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd poll{socket_.get(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&poll, 1, static_cast<int>(left.count())) <= 0) return false;
    if (read_some(block.data(), block.size()) <= 0) return true;
  }
}

std::string HttpClient::peer_certificate_name() const {
  X509* certificate = SSL_get_peer_certificate(tls_->ssl);
  if (certificate == nullptr) return {};
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  X509_free(certificate);
  return name.data();
}

std::optional<Reply> HttpClient::request(std::string_view method, std::string_view target,
                                         std::string_view headers, std::string_view body) {
  std::string text =
      fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}", method, target, headers);
  if (!body.empty() || method == "POST") text += fmt::format("Content-Length: {}\r\n", body.size());
  text += "\r\n";
  text += body;
  if (!send(text)) return std::nullopt;
  return read_reply(method == "HEAD");
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return condition();
}

}  // namespace vesta::server::testing
