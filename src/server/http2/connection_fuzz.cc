// Bytes of a client, cut into pieces, against the state machine of HTTP/2. The first byte says how
// large the pieces are, and how answers are given; time passes between pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "server/http2/connection.h"

namespace vesta::server {
namespace {

class Answerer final : public Http2Requests {
 public:
  explicit Answerer(uint8_t mode) : mode_(mode) {}
  void use(Http2Connection& connection) { connection_ = &connection; }

  void on_head(int32_t stream, Http2Message& /*message*/) override {
    if ((mode_ & 1) != 0) reply(stream);
    if ((mode_ & 2) != 0) connection_->invite_body(stream);
  }
  void on_request(int32_t stream, Http2Message /*message*/) override {
    if ((mode_ & 4) != 0) {
      waiting_.push_back(stream);
    } else {
      reply(stream);
    }
  }
  void on_problem(int32_t stream, const Http2Message& /*message*/, Http2Problem) override {
    reply(stream);
  }
  void on_end(int32_t stream) override { std::erase(waiting_, stream); }

  void reply_late() {
    if (waiting_.empty()) return;
    const int32_t stream = waiting_.back();
    waiting_.pop_back();
    reply(stream);
  }
  void at(Http2Time now) { now_ = now; }

 private:
  void reply(int32_t stream) {
    HttpResponse response;
    response.headers = {{"content-type", "text/plain"}};
    response.body.assign((mode_ & 8) != 0 ? 100'000 : 10, 'x');
    if ((mode_ & 16) != 0) response.headers.emplace_back("trailer:grpc-status", "0");
    connection_->answer(stream, std::move(response), false, {}, now_);
  }

  const uint8_t mode_;
  Http2Connection* connection_ = nullptr;
  Http2Time now_;
  std::vector<int32_t> waiting_;
};

}  // namespace
}  // namespace vesta::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vesta::server;
  if (size == 0) return 0;
  const uint8_t mode = data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Http2Limits limits;
  limits.http.max_header_bytes = 4096;
  limits.max_body_bytes = 4096;
  limits.max_streams = 8;
  MemoryBudget budget(64 * 1024);
  HttpCounters counters;
  Answerer answerer(mode);
  Http2Time now{};
  {
    Http2Connection connection(limits, budget, counters, answerer, now);
    answerer.use(connection);
    const size_t piece = size_t{1} << (mode >> 5) * 2;
    // With the preface in front, mutations reach frames at once.
    connection.receive(kHttp2Preface, now);
    for (size_t at = 0; at < bytes.size() && !connection.finished(); at += piece) {
      connection.receive(bytes.substr(at, piece), now);
      answerer.reply_late();
      if (!connection.congested()) (void)connection.take_output(now);
      now += std::chrono::milliseconds(10);
      answerer.at(now);
      if (now >= connection.deadline()) connection.tick(now);
    }
    connection.go_away();
    while (!connection.take_output(now).empty()) {
    }
  }
  if (budget.used() != 0) __builtin_trap();
  return 0;
}
