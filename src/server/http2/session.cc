#include "server/http2/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "server/grpc/grpc_protocol.h"
#include "server/http/http_date.h"
#include "server/http/http_text.h"
#include "server/http/request_checks.h"
#include "server/http2/connection.h"
#include "server/rpc/dispatcher.h"
#include "server/rpc/request_id.h"

namespace vesta::server {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
using tcp = net::ip::tcp;
using error_code = beast::error_code;
using Clock = std::chrono::steady_clock;
using Timer =
    net::basic_waitable_timer<Clock, net::wait_traits<Clock>, net::io_context::executor_type>;

// Little while a connection is idle, so that ten thousand of them cost little.
constexpr size_t kIdleBuffer = 2 * 1024;
constexpr size_t kBusyBuffer = 64 * 1024;
constexpr auto kLingerTime = std::chrono::seconds(2);
constexpr uint64_t kLingerBytes = uint64_t{64} << 20;

// A request on its way through a handler. The worker owns it while it runs.
struct Task {
  HttpRequest request;
  Dispatcher::Admission admission;
  MemoryBudget::Lease lease;
  std::atomic<bool> cancelled = false;
};

// What is known of a request until it is answered.
struct Exchange {
  std::string method;
  std::string target;
  std::string request_id;
  std::string_view route;
  Scope scope = Scope::kNone;
  Caller caller;
  std::optional<GrpcType> grpc;
  uint64_t bytes_in = 0;
  Clock::time_point start;
  std::optional<Dispatcher::Admission> admission;
  std::shared_ptr<Task> task;
  bool answered = false;
};

template <class Stream>
class Session final : public HttpSession,
                      public Http2Requests,
                      public std::enable_shared_from_this<Session<Stream>> {
 public:
  Session(HttpEnvironment& environment, HttpConnection connection, Stream stream, std::string first)
      : environment_(environment),
        connection_(std::move(connection)),
        stream_(std::move(stream)),
        first_(std::move(first)),
        timer_(connection_.io),
        http2_(limits_of(environment), environment.budget, environment.counters, *this,
               Clock::now()) {}

  void begin() override {
    lowest().expires_never();
    const std::string first = std::move(first_);
    if (!first.empty()) http2_.receive(first, Clock::now());
    if (environment_.stopping) http2_.go_away();
    pump();
  }

  void wind_up() override {
    if (state_ == State::kClosed) return;
    if (state_ == State::kLinger) return close();
    http2_.go_away();
    pump();
  }

  void close() override {
    if (state_ == State::kClosed) return;
    state_ = State::kClosed;
    for (auto& [id, exchange] : exchanges_) {
      if (exchange.task != nullptr) exchange.task->cancelled = true;
    }
    error_code ignored;
    lowest().socket().close(ignored);
    lowest().cancel();
    timer_.cancel();
    connection_.on_end(this);
  }

 private:
  enum class State { kOpen, kLinger, kClosed };

  static Http2Limits limits_of(const HttpEnvironment& environment) {
    Http2Limits limits;
    limits.http = environment.limits;
    limits.max_body_bytes = environment.dispatcher.limits().max_bytes;
    return limits;
  }

  PlainStream& lowest() { return beast::get_lowest_layer(stream_); }

  // Does all that can be done now.
  void pump() {
    if (state_ != State::kOpen) return;
    if (!writing_) {
      output_ = http2_.take_output(Clock::now());
      if (!output_.empty()) {
        write();
      } else if (http2_.finished()) {
        return finish();
      }
    }
    if (!reading_ && !(writing_ && http2_.congested())) read();
    arm();
  }

  void read() {
    reading_ = true;
    const size_t wanted = http2_.streams() == 0 ? kIdleBuffer : kBusyBuffer;
    if (input_.size() != wanted) {
      input_.resize(wanted);
      input_.shrink_to_fit();
    }
    stream_.async_read_some(net::buffer(input_),
                            [self = this->shared_from_this()](error_code error, size_t size) {
                              self->on_read(error, size);
                            });
  }

  void on_read(const error_code& error, size_t size) {
    reading_ = false;
    if (state_ == State::kClosed) return;
    if (state_ == State::kLinger) return on_lingered(error, size);
    if (error) return close();
    http2_.receive({input_.data(), size}, Clock::now());
    pump();
  }

  void write() {
    writing_ = true;
    write_deadline_ = Clock::now() + environment_.limits.write_timeout + time_for(output_.size());
    net::async_write(stream_, net::buffer(output_),
                     [self = this->shared_from_this()](error_code error, size_t /*size*/) {
                       self->writing_ = false;
                       if (self->state_ == State::kClosed) return;
                       if (error) return self->close();
                       self->pump();
                     });
  }

  std::chrono::milliseconds time_for(uint64_t bytes) const {
    return std::chrono::milliseconds(
        bytes * 1000 / std::max<uint64_t>(1, environment_.limits.min_bytes_per_second));
  }

  // One timer for everything. It is set anew only when something earlier comes up; what has moved
  // back is seen when it rings.
  void arm() {
    Clock::time_point next = http2_.deadline();
    if (writing_) next = std::min(next, write_deadline_);
    if (next >= armed_) return;
    armed_ = next;
    timer_.expires_at(next);
    timer_.async_wait([self = this->shared_from_this()](const error_code& cancelled) {
      if (!cancelled && self->state_ != State::kClosed) self->on_time();
    });
  }

  void on_time() {
    armed_ = Clock::time_point::max();
    if (state_ == State::kLinger) return close();
    const auto now = Clock::now();
    if (writing_ && now >= write_deadline_) {
      ++environment_.counters.timeouts;
      return close();
    }
    if (now >= http2_.deadline()) http2_.tick(now);
    pump();
  }

  // Closing with bytes unread would reset the connection, and the client might never see its
  // answers: say that we are done, and read on for a moment.
  void finish() {
    state_ = State::kLinger;
    armed_ = Clock::time_point::max();
    timer_.cancel();
    timer_.expires_after(kLingerTime);
    timer_.async_wait([self = this->shared_from_this()](const error_code& cancelled) {
      if (!cancelled) self->close();
    });
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      if (reading_) lowest().cancel();
      stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->close(); });
    } else {
      error_code error;
      lowest().socket().shutdown(tcp::socket::shutdown_send, error);
      if (error) return close();
      if (!reading_) read();
    }
  }

  void on_lingered(const error_code& error, size_t size) {
    if constexpr (std::is_same_v<Stream, TlsStream>) return;  // the shutdown closes
    lingered_ += size;
    if (error || lingered_ > kLingerBytes) return close();
    read();
  }

  // Http2Requests: called by http2_ while it takes bytes.

  Exchange& exchange_of(int32_t stream, const Http2Message& message) {
    auto [found, is_new] = exchanges_.try_emplace(stream);
    Exchange& exchange = found->second;
    exchange.bytes_in = message.bytes_in;
    if (!is_new) return exchange;
    exchange.method = message.request.method;
    exchange.target = message.target.substr(0, environment_.limits.max_target_bytes);
    exchange.start = message.start;
    exchange.caller.tenant.clear();
    exchange.caller.address = connection_.peer;
    exchange.grpc = grpc_type_of(message.request.header("content-type"));
    const std::string_view id = message.request.header("x-request-id");
    exchange.request_id = is_request_id(id) ? std::string(id) : new_request_id();
    return exchange;
  }

  void on_problem(int32_t stream, const Http2Message& message, Http2Problem problem) override {
    exchange_of(stream, message);
    const HttpLimits& limits = environment_.limits;
    switch (problem) {
      case Http2Problem::kHeadSize:
        return reject(stream,
                      {ErrorCode::kLimit,
                       fmt::format("the head of the request is larger than {} bytes",
                                   limits.max_header_bytes),
                       "send fewer or shorter headers"},
                      431, "header_size");
      case Http2Problem::kBodySize:
        return reject(stream,
                      {ErrorCode::kLimit,
                       fmt::format("the body is larger than {} bytes",
                                   environment_.dispatcher.limits().max_bytes),
                       "send smaller requests, or raise limits.max_body_bytes"},
                      413, "body_size");
      case Http2Problem::kMemory:
        return respond(stream,
                       busy_response({ErrorCode::kTooMany,
                                      "requests in flight exceed the server's memory limit",
                                      "try again in a moment"}),
                       "memory");
    }
  }

  void on_head(int32_t stream, Http2Message& message) override {
    Exchange& exchange = exchange_of(stream, message);
    if (message.target.size() > environment_.limits.max_target_bytes) {
      exchange.target.resize(256);
      return reject(
          stream,
          {ErrorCode::kLimit,
           fmt::format("the URL is longer than {} bytes", environment_.limits.max_target_bytes),
           "use POST if the route allows it"},
          414, "target_size");
    }
    const RequestHead checked_head{HttpVersion::k2, message.target, message.authority,
                                   message.request.headers};
    if (const Status checked = check_head(checked_head); !checked) {
      return reject(stream, checked.error(), 400, "malformed");
    }
    HttpRequest head = std::move(message.request);
    message.request = {};
    if (head.header("host").empty()) head.headers.emplace_back("host", message.authority);
    auto target = parse_target(message.target);
    if (!target) return reject(stream, target.error(), 400, "malformed");
    if (!drop_prefix(environment_.path_prefix, *target)) {
      HttpResponse redirect =
          error_response({ErrorCode::kUsage, "a slash is missing at the end", {}}, 308);
      redirect.headers.emplace_back("Location", environment_.path_prefix + "/");
      return respond(stream, std::move(redirect), "slash");
    }
    head.path = std::move(target->path);
    head.query = std::move(target->query);
    const std::string expect = lower_case(head.header("expect"));
    if (!expect.empty() && expect != "100-continue") {
      return reject(stream, {ErrorCode::kUnsupported, "only Expect: 100-continue is supported", {}},
                    417, "malformed");
    }
    auto admitted = environment_.dispatcher.admit(head, target->segments, connection_.peer,
                                                  connection_.only_paths);
    if (auto* refusal = std::get_if<Dispatcher::Refusal>(&admitted)) {
      exchange.route = refusal->route;
      exchange.caller = std::move(refusal->caller);
      return respond(stream, std::move(refusal->response), refusal->reason);
    }
    exchange.admission = std::move(std::get<Dispatcher::Admission>(admitted));
    exchange.caller = exchange.admission->caller;
    message.lease.assign(environment_.budget.holder(exchange.caller.tenant));
    exchange.route = exchange.admission->endpoint->pattern();
    exchange.scope = exchange.admission->endpoint->scope();
    exchange.task = std::make_shared<Task>();
    exchange.task->request = std::move(head);
    if (!expect.empty()) http2_.invite_body(stream);
  }

  void on_request(int32_t stream, Http2Message message) override {
    const auto found = exchanges_.find(stream);
    if (found == exchanges_.end() || !found->second.admission) return;
    Exchange& exchange = found->second;
    exchange.bytes_in = message.bytes_in;
    const std::shared_ptr<Task> task = exchange.task;
    task->request.body = std::move(message.request.body);
    task->lease = std::move(message.lease);
    task->admission = std::move(*exchange.admission);
    // Requests that the client took back are still under way here: they count.
    if (running_ < Http2Limits().max_streams &&
        environment_.pool.post(exchange.scope, task->admission.caller.tenant,
                               [self = this->shared_from_this(), task, stream]() mutable {
                                 run(std::move(self), *task, stream);
                               })) {
      ++running_;
      return;
    }
    respond(stream,
            busy_response(
                {ErrorCode::kUnavailable, "the server is overloaded", "try again in a moment"}),
            "queue");
  }

  // On a worker thread, which must not be the last to let go of the session.
  static void run(std::shared_ptr<Session> self, Task& task, int32_t stream) {
    if (self->environment_.abandoned) return;  // the connection is closed
    HttpResponse response;
    // Nobody waits any more: the work can be saved.
    if (!task.cancelled) {
      response = self->environment_.dispatcher.run(task.admission, task.request, task.lease);
    }
    task.request = {};
    // Of the answer now.
    MemoryBudget::Lease lease = std::move(task.lease);
    const auto executor = self->lowest().get_executor();
    net::post(executor, [self = std::move(self), stream, response = std::move(response),
                         lease = std::move(lease)]() mutable {
      --self->running_;
      if (self->state_ != State::kOpen) return;
      self->respond(stream, std::move(response), {}, std::move(lease));
      self->pump();
    });
  }

  void on_end(int32_t stream) override {
    const auto found = exchanges_.find(stream);
    if (found == exchanges_.end()) return;
    Exchange& exchange = found->second;
    if (exchange.task != nullptr) exchange.task->cancelled = true;
    if (!exchange.answered) observe(exchange, 499, 0, {});
    exchanges_.erase(found);
  }

  void reject(int32_t stream, const Error& error, int status, std::string_view reason) {
    if (reason == "malformed") ++environment_.counters.malformed;
    respond(stream, error_response(error, status), reason);
  }

  void respond(int32_t stream, HttpResponse response, std::string_view rejected,
               MemoryBudget::Lease lease = {}) {
    const auto found = exchanges_.find(stream);
    if (found == exchanges_.end() || found->second.answered) return;
    Exchange& exchange = found->second;
    const bool head_only = exchange.method == "HEAD";
    if (!head_only && rejected.empty() && !take_room(lease, response.body.size())) {
      response = busy_response({ErrorCode::kUnavailable,
                                "answers in flight exceed the server's memory limit",
                                "read answers faster, or send fewer requests at once"});
      rejected = "memory";
    }
    if (exchange.grpc && response.status >= 400 && !is_grpc(response)) {
      response = grpc_failure(*exchange.grpc, response);
    }
    if (!rejected.empty()) add_security_headers(response);
    const bool has_body =
        response.status >= 200 && response.status != 204 && response.status != 304;
    if (!has_body) response.body.clear();
    observe(exchange, response.status, head_only ? 0 : response.body.size(), rejected);
    response.status = sent_status(response);
    exchange.answered = true;
    Fields headers = {{"server", "vesta"}, {"date", http_date()}};
    if (has_body) headers.emplace_back("content-type", response.content_type);
    const bool has_trailers = std::ranges::any_of(response.headers, [](const auto& field) {
      return field.first.starts_with(kTrailerPrefix);
    });
    for (auto& field : response.headers) headers.push_back(std::move(field));
    headers.emplace_back("x-request-id", exchange.request_id);
    if (has_body && !has_trailers) {
      headers.emplace_back("content-length", fmt::format("{}", response.body.size()));
    }
    response.headers = std::move(headers);
    http2_.answer(stream, std::move(response), head_only, std::move(lease), Clock::now());
  }

  // Large answers are covered by the dispatcher. Small ones go out in any case, as over HTTP/1.1,
  // but many of them at once only within half of the budget of requests, which so always find room.
  bool take_room(MemoryBudget::Lease& lease, uint64_t size) {
    if (lease.bytes() > 0 || http2_.unsent_bytes() == 0) return true;
    const MemoryBudget& budget = environment_.budget;
    if (budget.used() + size > budget.total() / 2) return false;
    lease = MemoryBudget::Lease(environment_.budget);
    return lease.resize(size);
  }

  void observe(const Exchange& exchange, int status, uint64_t bytes_out,
               std::string_view rejected) const {
    RequestRecord record;
    record.transport = exchange.grpc ? "grpc" : "http";
    record.method = exchange.method;
    record.target = exchange.target;
    record.request_id = exchange.request_id;
    record.caller = &exchange.caller;
    record.route = exchange.route;
    record.scope = exchange.scope;
    record.status = status;
    record.bytes_in = exchange.bytes_in;
    record.bytes_out = bytes_out;
    record.duration = Clock::now() - exchange.start;
    record.rejected = rejected;
    environment_.dispatcher.observe(record);
  }

  HttpEnvironment& environment_;
  HttpConnection connection_;
  Stream stream_;
  std::string first_;
  Timer timer_;
  Http2Connection http2_;
  State state_ = State::kOpen;
  bool reading_ = false;
  bool writing_ = false;
  uint32_t running_ = 0;  // requests that the pool has, also of streams that are gone
  uint64_t lingered_ = 0;
  std::vector<char> input_;
  std::string output_;
  Clock::time_point write_deadline_;
  Clock::time_point armed_ = Clock::time_point::max();
  std::unordered_map<int32_t, Exchange> exchanges_;
};

}  // namespace

std::shared_ptr<HttpSession> make_http2_session(HttpEnvironment& environment,
                                                HttpConnection connection, PlainStream stream,
                                                std::string first) {
  return std::make_shared<Session<PlainStream>>(environment, std::move(connection),
                                                std::move(stream), std::move(first));
}

std::shared_ptr<HttpSession> make_http2_session(HttpEnvironment& environment,
                                                HttpConnection connection, TlsStream stream,
                                                std::string first) {
  return std::make_shared<Session<TlsStream>>(environment, std::move(connection), std::move(stream),
                                              std::move(first));
}

}  // namespace vesta::server
