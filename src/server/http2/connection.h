// HTTP/2 of one connection as a state machine: bytes in, requests out, answers in, bytes out, over
// libnghttp2. No sockets, no clock of its own and no threads; whoever owns it says what time it is.
// All that a client may do is bounded: streams at a time, sizes, memory (by the budget), times, and
// frames that cost us more than them (resets, pings, settings, empty frames). The budget, the
// counters and the receiver of requests must outlive it. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/api.h"
#include "server/http/http_session.h"
#include "server/memory_budget.h"

namespace vesta::server {

using Http2Time = std::chrono::steady_clock::time_point;

struct Http2Limits {
  HttpLimits http;  // sizes and times, as for HTTP/1.1
  uint64_t max_body_bytes = uint64_t{64} << 20;
  uint32_t max_streams = 128;
};

// A request as it arrives. Its path and query are not parsed yet.
struct Http2Message {
  // With ":scheme" among its headers, which no request of HTTP/1 can have.
  HttpRequest request;        // the body is complete in on_request(), and empty before
  std::string target;         // ":path"; empty for CONNECT
  std::string authority;      // ":authority"; may be empty when there is a Host
  MemoryBudget::Lease lease;  // of head and body
  uint64_t bytes_in = 0;
  Http2Time start;
};

enum class Http2Problem : uint8_t { kHeadSize, kBodySize, kMemory };

class Http2Requests {
 public:
  virtual ~Http2Requests() = default;
  // The head is complete, and may be taken out of the message. To answer now refuses the rest.
  virtual void on_head(int32_t stream, Http2Message& message) = 0;
  // All of the request has arrived.
  virtual void on_request(int32_t stream, Http2Message message) = 0;
  // It cannot be read: answer why. `message` is what there is of it; on_head() may have been
  // before.
  virtual void on_problem(int32_t stream, const Http2Message& message, Http2Problem problem) = 0;
  // The stream is over: its answer is written, or the client or a timeout ended it.
  virtual void on_end(int32_t stream) = 0;
};

class Http2Connection {
 public:
  Http2Connection(const Http2Limits& limits, MemoryBudget& budget, HttpCounters& counters,
                  Http2Requests& requests, Http2Time now);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  // Takes bytes from the client, its preface first.
  void receive(std::string_view bytes, Http2Time now);
  // Bytes for the client, some ten kilobytes at a time; empty when there is nothing to send now.
  std::string take_output(Http2Time now);
  // Nothing more will come or go, after what take_output() has.
  bool finished() const;
  // So much waits to be sent, beside bodies, that reading on would only add to it.
  bool congested() const;

  // Answers a stream; nothing happens when it is gone. A body goes out as the client takes it.
  // `lease` covers it until then.
  void answer(int32_t stream, HttpResponse response, bool head_only, MemoryBudget::Lease lease,
              Http2Time now);
  // 100 Continue.
  void invite_body(int32_t stream);

  // No new requests: those that are here may end.
  void go_away();

  // When tick() wants to be called at the latest; max() = never.
  Http2Time deadline() const;
  // Ends what has taken too long.
  void tick(Http2Time now);

  size_t streams() const;
  // Bytes of answers that wait for the client.
  uint64_t unsent_bytes() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// What a client that knows beforehand sends first.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

}  // namespace vesta::server
