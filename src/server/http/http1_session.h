// A connection of HTTP/1 over one kind of stream. A template that takes a compiler long:
// plain_session.cc and tls_session.cc have one instance each. As in http_session.h, a session lives
// on one thread.
#pragma once

#include <fmt/format.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <ctime>
#include <optional>
#include <type_traits>

#include "server/grpc/grpc_protocol.h"
#include "server/http/http_date.h"
#include "server/http/http_session.h"
#include "server/http/http_streams.h"
#include "server/http/http_text.h"
#include "server/http/peer_watch.h"
#include "server/http/request_checks.h"
#include "server/http2/connection.h"
#include "server/http2/session.h"
#include "server/rpc/request_id.h"

namespace vesta::server::http1 {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = net::ip::tcp;
using error_code = beast::error_code;
using Clock = std::chrono::steady_clock;

// Beast reads as much as the buffer has room for: little while a connection is idle, so that ten
// thousand of them cost little, and much as soon as a body comes, or reading is ten times slower.
inline constexpr size_t kIdleBuffer = 2 * 1024;
inline constexpr size_t kLeastRoom = 512;
inline constexpr size_t kBodyBuffer = 128 * 1024;
inline constexpr size_t kFirstBodyBlock = size_t{1} << 20;
inline constexpr auto kLingerTime = std::chrono::seconds(2);
inline constexpr uint64_t kLingerBytes = uint64_t{64} << 20;

// A body that takes from the budget before it takes memory, as bytes arrive: a client that only
// announces a large body holds nothing.
struct LeasedBody {
  // NOLINTBEGIN(readability-identifier-naming): Beast's names.
  struct value_type {
    std::string bytes;
    MemoryBudget::Lease lease;
  };

  class reader {
   public:
    template <bool is_request, class F>
    reader(http::header<is_request, F>& /*head*/, value_type& body) : body_(body) {}

    void init(const boost::optional<uint64_t>& length, error_code& error) {
      if (length) expected_ = *length;
      error = {};
    }
    template <class Buffers>
    size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      const size_t size = beast::buffer_bytes(buffers);
      if (!make_room(body_.bytes.size() + size)) {
        error = boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
        return 0;
      }
      for (const auto buffer : beast::buffers_range_ref(buffers)) {
        body_.bytes.append(static_cast<const char*>(buffer.data()), buffer.size());
      }
      return size;
    }
    void finish(error_code& error) { error = {}; }

   private:
    bool make_room(size_t size) {
      if (size <= body_.bytes.capacity()) return true;
      size_t room = std::max(
          {size, body_.bytes.capacity() * 2, std::min<size_t>(expected_, kFirstBodyBlock)});
      if (expected_ != 0) room = std::max<size_t>(size, std::min<size_t>(room, expected_));
      if (!body_.lease.resize(room)) return false;
      body_.bytes.reserve(room);
      return true;
    }

    value_type& body_;
    uint64_t expected_ = 0;
  };
  // NOLINTEND(readability-identifier-naming)
};

// Why a request could not be read, for the client and for metrics; status 0 = say nothing.
struct ReadProblem {
  int status = 0;
  std::string_view reason;
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;
  std::string hint;
};

ReadProblem read_problem(const error_code& error, const HttpLimits& limits, uint64_t max_body);

template <class Stream>
class Session final : public HttpSession, public std::enable_shared_from_this<Session<Stream>> {
 public:
  Session(HttpEnvironment& environment, HttpConnection connection,
          PlainStream stream) requires std::is_same_v<Stream, PlainStream>
      : environment_(environment), connection_(std::move(connection)), stream_(std::move(stream)) {}
  Session(HttpEnvironment& environment, HttpConnection connection,
          PlainStream stream) requires std::is_same_v<Stream, TlsStream>
      : environment_(environment),
        connection_(std::move(connection)),
        stream_(std::move(stream), *connection_.tls) {}

  void begin() override {
    if (connection_.refuse) return refuse();
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      lowest().expires_after(environment_.limits.header_timeout);
      stream_.async_handshake(net::ssl::stream_base::server,
                              [self = this->shared_from_this()](error_code error) {
                                if (error) {
                                  ++self->environment_.counters.handshake_failures;
                                  return self->close();
                                }
                                if (self->chose_http2()) return self->become_http2();
                                self->next_request();
                              });
    } else {
      detect_http2();
    }
  }

  void wind_up() override {
    keep_ = false;
    if (phase_ == Phase::kIdle || phase_ == Phase::kHead || phase_ == Phase::kLinger) close();
  }

  void close() override {
    if (phase_ == Phase::kClosed) return;
    // A worker still uses the lease of a request that it works on.
    if (phase_ != Phase::kHandling) lease_ = {};
    phase_ = Phase::kClosed;
    forget_watch();
    error_code ignored;
    lowest().socket().close(ignored);
    lowest().cancel();
    connection_.on_end(this);
  }

 private:
  enum class Phase { kIdle, kHead, kBody, kHandling, kWriting, kLinger, kClosed };

  void forget_watch() {
    if (watch_ != nullptr) watch_->forget();
    watch_.reset();
  }

  PlainStream& lowest() { return beast::get_lowest_layer(stream_); }

  // What the client and we agreed on while shaking hands.
  bool chose_http2() {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      ::SSL_get0_alpn_selected(stream_.native_handle(), &name, &size);
    }
    return size == 2 && name[0] == 'h' && name[1] == '2';
  }

  // Without TLS, a client of HTTP/2 says so with its first bytes, which no request of HTTP/1 has.
  void detect_http2() {
    if (buffer_.size() == 0) {
      buffer_.reserve(kIdleBuffer);
      lowest().expires_after(environment_.limits.header_timeout);
    }
    stream_.async_read_some(buffer_.prepare(kIdleBuffer - buffer_.size()),
                            [self = this->shared_from_this()](error_code error, size_t size) {
                              if (self->phase_ == Phase::kClosed) return;
                              self->buffer_.commit(size);
                              const std::string_view bytes = self->buffered();
                              if (error && bytes.empty()) {
                                if (error == beast::error::timeout)
                                  ++self->environment_.counters.timeouts;
                                return self->close();
                              }
                              const size_t length = std::min(bytes.size(), kHttp2Preface.size());
                              if (bytes.substr(0, length) != kHttp2Preface.substr(0, length)) {
                                return self->next_request();
                              }
                              if (length == kHttp2Preface.size()) return self->become_http2();
                              if (error) return self->on_read_error(error);
                              self->detect_http2();
                            });
  }

  std::string_view buffered() const {
    return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
  }

  void become_http2() {
    phase_ = Phase::kClosed;
    std::string first(buffered());
    const auto replace = connection_.on_replace;
    const auto session = make_http2_session(environment_, std::move(connection_),
                                            std::move(stream_), std::move(first));
    replace(this, session.get());
    session->begin();
  }

  void next_request() {
    if (environment_.stopping) return close();
    phase_ = Phase::kIdle;
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(environment_.limits.max_header_bytes));
    parser_->body_limit(environment_.dispatcher.limits().max_bytes);
    parser_->get().body().lease = MemoryBudget::Lease(environment_.budget);
    request_ = {};
    segments_.clear();
    admission_.reset();
    bytes_in_ = 0;
    request_id_.clear();
    target_.clear();
    head_only_ = false;
    if (buffer_.size() == 0 && buffer_.capacity() > kIdleBuffer) buffer_ = beast::flat_buffer();
    buffer_.reserve(kIdleBuffer);
    // The first request of a connection must come soon; later ones when there is something to say.
    start_ = Clock::now();
    lowest().expires_after(answered_ == 0 ? environment_.limits.header_timeout
                                          : environment_.limits.idle_timeout);
    if (buffer_.size() == 0) return read_head();
    on_head_bytes({});
  }

  // The head is read here and not by Beast, which would not let us see it as it was sent.
  void read_head() {
    const size_t room = std::max(kLeastRoom, buffer_.capacity() - buffer_.size());
    stream_.async_read_some(buffer_.prepare(room),
                            [self = this->shared_from_this()](error_code error, size_t size) {
                              if (self->phase_ == Phase::kClosed) return;
                              self->buffer_.commit(size);
                              self->on_head_bytes(error);
                            });
  }

  void on_head_bytes(error_code error) {
    if (error == net::error::eof) {
      error = http::error::end_of_stream;
      if (parser_->got_some()) parser_->put_eof(error);
    }
    if (error) return on_read_error(error);
    if (phase_ == Phase::kIdle) {
      phase_ = Phase::kHead;
      start_ = Clock::now();
      lowest().expires_at(start_ + environment_.limits.header_timeout);
    }
    const size_t used = parser_->put(buffer_.data(), error);
    const std::string_view head(static_cast<const char*>(buffer_.data().data()), used);
    const bool is_folded = has_folded_line(head);
    buffer_.consume(used);
    bytes_in_ += used;
    if (error == http::error::need_more) return read_head();
    if (error) return on_read_error(error);
    if (!parser_->is_header_done()) return read_head();
    phase_ = Phase::kBody;
    body_start_ = Clock::now();
    on_head(is_folded);
  }

  void read() {
    http::async_read_some(stream_, buffer_, *parser_,
                          [self = this->shared_from_this()](error_code error, size_t size) {
                            self->on_read(error, size);
                          });
  }

  void on_read(error_code error, size_t size) {
    if (phase_ == Phase::kClosed) return;
    bytes_in_ += size;
    if (error) return on_read_error(error);
    if (parser_->is_done()) return handle();
    expect_body_bytes();
    read();
  }

  void on_read_error(const error_code& error) {
    if (error == beast::error::timeout) {
      if (phase_ != Phase::kIdle || answered_ == 0) ++environment_.counters.timeouts;
      return close();
    }
    if (error == http::error::end_of_stream) return finish();  // between requests: all is well
    const ReadProblem problem =
        read_problem(error, environment_.limits, environment_.dispatcher.limits().max_bytes);
    if (problem.status == 0 || problem.reason == "malformed") ++environment_.counters.malformed;
    if (problem.status == 0) return close();
    HttpResponse response =
        error_response({problem.code, problem.message, problem.hint}, problem.status);
    if (problem.status == 429) response.headers.emplace_back("Retry-After", "1");
    keep_ = false;
    head_only_ = false;
    respond(std::move(response), problem.reason);
  }

  // A client that sends slowly may take the longer the more it has sent.
  void expect_body_bytes() {
    lowest().expires_at(body_start_ + environment_.limits.body_timeout + time_for(bytes_in_));
  }
  std::chrono::milliseconds time_for(uint64_t bytes) const {
    return std::chrono::milliseconds(
        bytes * 1000 / std::max<uint64_t>(1, environment_.limits.min_bytes_per_second));
  }

  void on_head(bool is_folded) {
    const auto& message = parser_->get();
    keep_ = message.keep_alive() && !environment_.stopping;
    request_.method = message.method_string();
    target_ = message.target();
    head_only_ = request_.method == "HEAD";
    for (const auto& field : message) {
      request_.headers.emplace_back(lower_case(field.name_string()), field.value());
    }
    const std::string_view id = request_.header("x-request-id");
    request_id_ = is_request_id(id) ? std::string(id) : new_request_id();
    if (target_.size() > environment_.limits.max_target_bytes) {
      target_.resize(256);
      return reject(
          {ErrorCode::kLimit,
           fmt::format("the URL is longer than {} bytes", environment_.limits.max_target_bytes),
           "use POST if the route allows it"},
          414, "target_size");
    }
    if (is_folded) {
      return refuse_connection({ErrorCode::kInvalidInput, "a header is folded over several lines",
                                "send it in one line"});
    }
    const RequestHead head{message.version() == 10 ? HttpVersion::k10 : HttpVersion::k11,
                           target_,
                           {},
                           request_.headers};
    if (const Status checked = check_head(head); !checked) {
      return refuse_connection(checked.error());
    }
    auto target = parse_target(target_);
    if (!target) return reject(target.error(), 400, "malformed");
    if (!drop_prefix(environment_.path_prefix, *target)) {
      HttpResponse redirect =
          error_response({ErrorCode::kUsage, "a slash is missing at the end", {}}, 308);
      redirect.headers.emplace_back("Location", environment_.path_prefix + "/");
      return respond(std::move(redirect), "slash");
    }
    request_.path = std::move(target->path);
    request_.query = std::move(target->query);
    segments_ = std::move(target->segments);
    const std::string expect = lower_case(request_.header("expect"));
    if (!expect.empty() && expect != "100-continue") {
      return reject({ErrorCode::kUnsupported, "only Expect: 100-continue is supported", {}}, 417,
                    "malformed");
    }
    auto admitted = environment_.dispatcher.admit(request_, segments_, connection_.peer,
                                                  connection_.only_paths);
    if (auto* refusal = std::get_if<Dispatcher::Refusal>(&admitted)) {
      refused_route_ = refusal->route;
      refused_caller_ = std::move(refusal->caller);
      if (!parser_->is_done()) keep_ = false;
      return respond(std::move(refusal->response), refusal->reason);
    }
    admission_ = std::move(std::get<Dispatcher::Admission>(admitted));
    parser_->get().body().lease.assign(environment_.budget.holder(admission_->caller.tenant));
    if (parser_->is_done()) return handle();
    const auto length = parser_->content_length();
    buffer_.reserve(buffer_.size() +
                    (length ? std::min<uint64_t>(*length, kBodyBuffer) : kBodyBuffer));
    expect_body_bytes();
    if (expect.empty() || message.version() != 11) return read();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    net::async_write(stream_, net::buffer(kContinue),
                     [self = this->shared_from_this()](error_code error, size_t /*size*/) {
                       if (error) return self->close();
                       self->read();
                     });
  }

  void reject(const Error& error, int status, std::string_view reason) {
    if (!parser_->is_done()) keep_ = false;
    if (reason == "malformed") ++environment_.counters.malformed;
    respond(error_response(error, status), reason);
  }

  // Where the next request would begin is in doubt.
  void refuse_connection(const Error& error) {
    keep_ = false;
    reject(error, 400, "malformed");
  }

  void handle() {
    phase_ = Phase::kHandling;
    lowest().expires_never();
    auto& body = parser_->get().body();
    request_.body = std::move(body.bytes);
    body.bytes = {};
    lease_ = std::move(body.lease);
    const Scope scope = admission_->endpoint->scope();
    watch_ = std::make_shared<PeerWatch>(lowest().socket().native_handle());
    admission_->caller.is_gone = [watch = watch_] { return watch->is_gone(); };
    const std::string tenant = admission_->caller.tenant;
    const bool queued =
        environment_.pool.post(scope, tenant, [self = this->shared_from_this()]() mutable {
          if (self->environment_.abandoned) return;  // the connection is closed
          HttpResponse response =
              self->environment_.dispatcher.run(*self->admission_, self->request_, self->lease_);
          const auto executor = self->lowest().get_executor();
          net::post(executor, [self = std::move(self), response = std::move(response)]() mutable {
            if (self->phase_ == Phase::kHandling) self->respond(std::move(response), {});
          });
        });
    if (queued) return;
    request_.body = {};
    lease_.resize(0);
    respond(busy_response(
                {ErrorCode::kUnavailable, "the server is overloaded", "try again in a moment"}),
            "queue");
  }

  void respond(HttpResponse response, std::string_view rejected) {
    phase_ = Phase::kWriting;
    forget_watch();
    if (request_id_.empty()) request_id_ = new_request_id();
    if (!rejected.empty()) add_security_headers(response);
    if (environment_.stopping) keep_ = false;
    const bool has_body =
        response.status >= 200 && response.status != 204 && response.status != 304;
    if (!has_body) response.body.clear();
    observe(response, rejected);

    reply_.emplace();
    reply_->version(parser_->is_header_done() ? parser_->get().version() : 11);
    reply_->result(static_cast<unsigned>(sent_status(response)));
    reply_->set(http::field::server, "vesta");
    reply_->set(http::field::date, http_date());
    if (has_body) reply_->set(http::field::content_type, header_safe(response.content_type));
    for (const auto& [name, value] : response.headers) {
      reply_->insert(header_safe(name), header_safe(value));
    }
    reply_->set("X-Request-Id", request_id_);
    if (has_body) reply_->content_length(response.body.size());
    if (!head_only_) reply_->body() = std::move(response.body);
    reply_->keep_alive(keep_);
    writer_.emplace(*reply_);
    write_start_ = Clock::now();
    bytes_out_ = 0;
    write_some();
  }

  // A client has to read something now and then, and may take the longer the more it has read.
  void write_some() {
    const auto time = environment_.limits.write_timeout;
    lowest().expires_at(std::min(Clock::now(), write_start_ + time_for(bytes_out_)) + time);
    http::async_write_some(stream_, *writer_,
                           [self = this->shared_from_this()](error_code error, size_t size) {
                             if (self->phase_ == Phase::kClosed) return;
                             self->bytes_out_ += size;
                             if (!error && !self->writer_->is_done()) return self->write_some();
                             self->on_written(error);
                           });
  }

  void on_written(const error_code& error) {
    writer_.reset();
    reply_.reset();
    lease_ = {};
    if (error) {
      if (error == beast::error::timeout) ++environment_.counters.timeouts;
      return close();
    }
    ++answered_;
    if (!keep_ || environment_.stopping) return finish();
    next_request();
  }

  void observe(const HttpResponse& response, std::string_view rejected) {
    RequestRecord record;
    record.transport = "http";
    record.method = request_.method;
    record.target = target_;
    record.request_id = request_id_;
    record.caller = admission_ ? &admission_->caller : &refused_caller_;
    if (admission_) {
      record.route = admission_->endpoint->pattern();
      record.scope = admission_->endpoint->scope();
    } else {
      record.route = refused_route_;
    }
    record.status = response.status;
    record.bytes_in = bytes_in_;
    record.bytes_out = head_only_ ? 0 : response.body.size();
    record.duration = Clock::now() - start_;
    record.rejected = rejected;
    environment_.dispatcher.observe(record);
    refused_route_ = {};
    refused_caller_ = {};
  }

  void refuse() {
    phase_ = Phase::kWriting;
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      close();  // a handshake only to say no would cost more than the request
    } else {
      static constexpr std::string_view kBusy =
          "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
          "Retry-After: 1\r\nConnection: close\r\nContent-Length: 67\r\n\r\n"
          R"({"code":"unavailable","message":"too many connections; try again"})"
          "\n";
      lowest().expires_after(kLingerTime);
      net::async_write(stream_, net::buffer(kBusy),
                       [self = this->shared_from_this()](error_code error, size_t /*size*/) {
                         if (error) return self->close();
                         self->finish();
                       });
    }
  }

  // Closing with bytes unread would reset the connection, and the client might never see its
  // answer: say that we are done, and read on for a moment.
  void finish() {
    if (phase_ == Phase::kClosed) return;
    error_code gone;
    const bool all_read = parser_ && parser_->is_done() && buffer_.size() == 0 &&
                          lowest().socket().available(gone) == 0;
    if (all_read && std::is_same_v<Stream, PlainStream>) return close();
    phase_ = Phase::kLinger;
    lowest().expires_after(kLingerTime);
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_shutdown(
          [self = this->shared_from_this()](error_code /*error*/) { self->close(); });
    } else {
      error_code error;
      lowest().socket().shutdown(tcp::socket::shutdown_send, error);
      if (error) return close();
      buffer_.clear();
      linger();
    }
  }

  void linger() {
    stream_.async_read_some(buffer_.prepare(kIdleBuffer),
                            [self = this->shared_from_this()](error_code error, size_t size) {
                              self->lingered_ += size;
                              if (error || self->lingered_ > kLingerBytes) return self->close();
                              self->linger();
                            });
  }

  HttpEnvironment& environment_;
  HttpConnection connection_;
  Stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<LeasedBody>> parser_;
  std::optional<http::response<http::string_body>> reply_;
  std::optional<http::response_serializer<http::string_body>> writer_;
  Phase phase_ = Phase::kIdle;
  bool keep_ = false;
  bool head_only_ = false;
  uint64_t answered_ = 0;
  uint64_t bytes_in_ = 0;
  uint64_t lingered_ = 0;
  Clock::time_point start_;
  Clock::time_point body_start_;
  Clock::time_point write_start_;
  uint64_t bytes_out_ = 0;
  std::string target_;
  std::string request_id_;
  // While phase_ is kHandling, a worker owns these four.
  HttpRequest request_;
  std::vector<std::string> segments_;
  std::optional<Dispatcher::Admission> admission_;
  MemoryBudget::Lease lease_;  // of the request's body, then of the answer until it is written
  std::string_view refused_route_;
  Caller refused_caller_;
  std::shared_ptr<PeerWatch> watch_;  // while phase_ is kHandling
};

// Of a stream that is connected; `connection.tls` must be there for the second.
std::shared_ptr<HttpSession> make_plain_session(HttpEnvironment& environment,
                                                HttpConnection connection, PlainStream stream);
std::shared_ptr<HttpSession> make_tls_session(HttpEnvironment& environment,
                                              HttpConnection connection, PlainStream stream);

}  // namespace vesta::server::http1
