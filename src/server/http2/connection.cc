#include "server/http2/connection.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "server/grpc/grpc_protocol.h"
#include "server/http/http_text.h"
#include "server/http2/frame_allowance.h"

namespace vesta::server {
namespace {

using std::chrono::milliseconds;

// What a client may send before it hears from us: of one stream, and of all.
constexpr uint32_t kStreamWindow = 512 * 1024;
constexpr int32_t kConnectionWindow = 4 * 1024 * 1024;
// Bytes of one take_output(), about.
constexpr size_t kOutputBytes = 64 * 1024;
// Frames that wait to be sent, beside bodies: acknowledgements, resets.
constexpr size_t kMaxWaitingFrames = 256;
// A head that is too large is still read, so that it can be answered; up to this many times.
constexpr size_t kMaxHeadExcess = 8;
constexpr uint32_t kMaxContinuations = 8;
constexpr size_t kFieldOverhead = 32;  // RFC 9113, 6.5.2
constexpr size_t kFirstBodyBlock = size_t{1} << 20;

// RFC 9113, 8.2.2: these belong to HTTP/1.1.
constexpr std::array<std::string_view, 5> kConnectionHeaders = {
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};

enum class Phase : uint8_t { kHead, kBody, kHandling, kAnswering };

struct Stream {
  Http2Message message;
  Phase phase = Phase::kHead;
  bool head_too_large = false;
  bool request_ended = false;
  size_t head_bytes = 0;
  uint64_t expected_bytes = 0;  // Content-Length; 0 = not known
  Http2Time body_start;
  Http2Time deadline = Http2Time::max();
  std::string answer;
  size_t sent = 0;
  Fields trailers;
  MemoryBudget::Lease answer_lease;

  uint64_t unsent() const { return answer.size() - sent; }
};

std::string_view view(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_nv field_of(std::string_view name, std::string_view value) {
  // The library copies both; its type is not const for historical reasons.
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

// Whether a frame of ours says that the client did something wrong.
bool is_complaint(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY) return frame.goaway.error_code != NGHTTP2_NO_ERROR;
  if (frame.hd.type != NGHTTP2_RST_STREAM) return false;
  const uint32_t code = frame.rst_stream.error_code;
  return code == NGHTTP2_PROTOCOL_ERROR || code == NGHTTP2_FLOW_CONTROL_ERROR ||
         code == NGHTTP2_STREAM_CLOSED || code == NGHTTP2_FRAME_SIZE_ERROR;
}

// Names in lower case, values without what would end a line, nothing of HTTP/1.1.
Fields sendable(const Fields& fields) {
  Fields out;
  for (const auto& [name, value] : fields) {
    std::string lower = lower_case(header_safe(name));
    if (std::ranges::find(kConnectionHeaders, lower) != kConnectionHeaders.end()) continue;
    out.emplace_back(std::move(lower), trim(header_safe(value)));
  }
  return out;
}

std::vector<nghttp2_nv> values_of(const Fields& fields) {
  std::vector<nghttp2_nv> values;
  values.reserve(fields.size());
  for (const auto& [name, value] : fields) values.push_back(field_of(name, value));
  return values;
}

template <class T, void (*free_it)(T*)>
struct Free {
  void operator()(T* pointer) const { free_it(pointer); }
};
using SessionPointer = std::unique_ptr<nghttp2_session, Free<nghttp2_session, nghttp2_session_del>>;
using CallbacksPointer =
    std::unique_ptr<nghttp2_session_callbacks,
                    Free<nghttp2_session_callbacks, nghttp2_session_callbacks_del>>;
using OptionsPointer = std::unique_ptr<nghttp2_option, Free<nghttp2_option, nghttp2_option_del>>;

}  // namespace

struct Http2Connection::Parts {
  Parts(const Http2Limits& given_limits, MemoryBudget& memory, HttpCounters& http_counters,
        Http2Requests& receiver, Http2Time start)
      : limits(given_limits),
        budget(memory),
        counters(http_counters),
        requests(receiver),
        now(start),
        idle_deadline(start + limits.http.header_timeout),
        allowance(start) {
    make_session();
  }

  void make_session();
  Stream* find(int32_t id);
  milliseconds time_for(uint64_t bytes) const;
  bool charge(int64_t cost);
  void refuse_client();

  // What the library tells.
  void begin_frame(const nghttp2_frame_hd& head);
  void begin_head(int32_t id);
  void add_field(int32_t id, std::string_view name, std::string_view value);
  void end_head(int32_t id, Stream& stream);
  void add_body(int32_t id, std::string_view bytes);
  void end_request(int32_t id);
  void on_frame(const nghttp2_frame& frame);
  void on_sent(const nghttp2_frame& frame);
  void close_stream(int32_t id);
  ssize_t read_answer(int32_t id, uint8_t* to, size_t size, uint32_t* flags);

  bool make_room(Stream& stream, size_t size) const;
  void end_stream(int32_t id, uint32_t code);

  const Http2Limits limits;
  MemoryBudget& budget;
  HttpCounters& counters;
  Http2Requests& requests;
  Http2Time now;
  Http2Time idle_deadline;  // while there are no streams
  bool greeted = false;     // its settings have come
  bool refused = false;     // it misbehaved: say so, and read nothing more
  bool broken = false;      // not HTTP/2: say nothing
  uint32_t continuations = 0;
  uint64_t unsent = 0;
  FrameAllowance allowance;
  std::unordered_map<int32_t, Stream> streams;
  SessionPointer session;
};

void Http2Connection::Parts::make_session() {
  nghttp2_session_callbacks* raw_callbacks = nullptr;
  if (nghttp2_session_callbacks_new(&raw_callbacks) != 0) throw std::bad_alloc();
  const CallbacksPointer callbacks(raw_callbacks);
  nghttp2_option* raw_options = nullptr;
  if (nghttp2_option_new(&raw_options) != 0) throw std::bad_alloc();
  const OptionsPointer options(raw_options);

  nghttp2_session_callbacks_set_on_begin_frame_callback(
      raw_callbacks, [](nghttp2_session*, const nghttp2_frame_hd* head, void* self) {
        static_cast<Parts*>(self)->begin_frame(*head);
        return 0;
      });
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      raw_callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
        if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
          static_cast<Parts*>(self)->begin_head(frame->hd.stream_id);
        }
        return 0;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      raw_callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
         const uint8_t* value, size_t value_size, uint8_t /*flags*/, void* self) {
        static_cast<Parts*>(self)->add_field(frame->hd.stream_id, view(name, name_size),
                                             view(value, value_size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      raw_callbacks, [](nghttp2_session*, uint8_t /*flags*/, int32_t id, const uint8_t* data,
                        size_t size, void* self) {
        static_cast<Parts*>(self)->add_body(id, view(data, size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      raw_callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
        static_cast<Parts*>(self)->on_frame(*frame);
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      raw_callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
        static_cast<Parts*>(self)->on_sent(*frame);
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      raw_callbacks, [](nghttp2_session*, int32_t id, uint32_t /*code*/, void* self) {
        static_cast<Parts*>(self)->close_stream(id);
        return 0;
      });

  // Streams that are over need not be remembered for priorities, which we do not use.
  nghttp2_option_set_no_closed_streams(raw_options, 1);
  // Resets are counted with the rest; the library's own bound has a clock that tests cannot set.
  nghttp2_option_set_stream_reset_rate_limit(raw_options, UINT32_MAX, UINT32_MAX);
  nghttp2_option_set_max_continuations(raw_options, kMaxContinuations);
  nghttp2_option_set_max_outbound_ack(raw_options, kMaxWaitingFrames * 4);
  nghttp2_session* raw_session = nullptr;
  if (nghttp2_session_server_new2(&raw_session, raw_callbacks, this, raw_options) != 0) {
    throw std::bad_alloc();
  }
  session.reset(raw_session);
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.max_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(limits.http.max_header_bytes)},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  nghttp2_submit_settings(raw_session, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(raw_session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Stream* Http2Connection::Parts::find(int32_t id) {
  const auto found = streams.find(id);
  return found == streams.end() ? nullptr : &found->second;
}

milliseconds Http2Connection::Parts::time_for(uint64_t bytes) const {
  return milliseconds(bytes * 1000 / std::max<uint64_t>(1, limits.http.min_bytes_per_second));
}

bool Http2Connection::Parts::charge(int64_t cost) {
  if (allowance.take(cost, now)) return true;
  refuse_client();
  return false;
}

void Http2Connection::Parts::refuse_client() {
  if (refused) return;
  refused = true;
  nghttp2_session_terminate_session(session.get(), NGHTTP2_ENHANCE_YOUR_CALM);
}

void Http2Connection::Parts::begin_frame(const nghttp2_frame_hd& head) {
  switch (head.type) {
    case NGHTTP2_HEADERS:
      continuations = 0;
      return;
    case NGHTTP2_DATA:
      if (head.length == 0 && (head.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
        charge(FrameAllowance::kFrame);
      }
      return;
    case NGHTTP2_CONTINUATION:
      if (++continuations > kMaxContinuations) refuse_client();
      return;
    case NGHTTP2_RST_STREAM:
      charge(FrameAllowance::kReset);
      return;
    default:
      charge(FrameAllowance::kFrame);
  }
}

void Http2Connection::Parts::begin_head(int32_t id) {
  Stream& stream = streams[id];
  stream.message.lease = MemoryBudget::Lease(budget);
  stream.message.start = now;
  stream.deadline = now + limits.http.header_timeout;
}

void Http2Connection::Parts::add_field(int32_t id, std::string_view name, std::string_view value) {
  Stream* stream = find(id);
  if (stream == nullptr || refused) return;
  stream->head_bytes += name.size() + value.size() + kFieldOverhead;
  // A few bytes can name a large field over and over.
  if (stream->head_bytes > limits.http.max_header_bytes * kMaxHeadExcess) return refuse_client();
  if (stream->phase != Phase::kHead) return;  // trailers, which no route reads
  HttpRequest& request = stream->message.request;
  if (stream->head_bytes > limits.http.max_header_bytes) {
    stream->head_too_large = true;
    request.headers = {};
    return;
  }
  if (name == ":method") {
    request.method = value;
  } else if (name == ":path") {
    stream->message.target = value;
  } else if (name == ":authority") {
    stream->message.authority = value;
  } else {
    request.headers.emplace_back(name, value);
  }
}

void Http2Connection::Parts::end_head(int32_t id, Stream& stream) {
  stream.phase = Phase::kBody;
  stream.body_start = now;
  stream.deadline = now + limits.http.body_timeout;
  stream.message.bytes_in = stream.head_bytes;
  if (stream.head_too_large) {
    return requests.on_problem(id, stream.message, Http2Problem::kHeadSize);
  }
  // Many streams may wait for their bodies: what they hold meanwhile counts.
  if (!stream.message.lease.resize(stream.head_bytes)) {
    return requests.on_problem(id, stream.message, Http2Problem::kMemory);
  }
  const std::string_view length = stream.message.request.header("content-length");
  std::from_chars(length.data(), length.data() + length.size(), stream.expected_bytes);
  if (stream.expected_bytes > limits.max_body_bytes) {
    return requests.on_problem(id, stream.message, Http2Problem::kBodySize);
  }
  requests.on_head(id, stream.message);
}

bool Http2Connection::Parts::make_room(Stream& stream, size_t size) const {
  std::string& body = stream.message.request.body;
  if (size <= body.capacity()) return true;
  const size_t expected = stream.expected_bytes;
  size_t room = std::max({size, body.capacity() * 2, std::min(expected, kFirstBodyBlock)});
  if (expected != 0) room = std::max(size, std::min(room, expected));
  if (!stream.message.lease.resize(stream.head_bytes + room)) return false;
  body.reserve(room);
  return true;
}

void Http2Connection::Parts::add_body(int32_t id, std::string_view bytes) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->phase != Phase::kBody || refused) return;
  std::string& body = stream->message.request.body;
  stream->message.bytes_in += bytes.size();
  if (body.size() + bytes.size() > limits.max_body_bytes) {
    return requests.on_problem(id, stream->message, Http2Problem::kBodySize);
  }
  if (!make_room(*stream, body.size() + bytes.size())) {
    return requests.on_problem(id, stream->message, Http2Problem::kMemory);
  }
  body += bytes;
  // Who sends slowly may take the longer the more has come.
  stream->deadline =
      stream->body_start + limits.http.body_timeout + time_for(stream->message.bytes_in);
}

void Http2Connection::Parts::end_request(int32_t id) {
  Stream* stream = find(id);
  if (stream == nullptr || refused) return;
  stream->request_ended = true;
  if (stream->phase != Phase::kBody) return;
  stream->phase = Phase::kHandling;
  stream->deadline = Http2Time::max();
  requests.on_request(id, std::move(stream->message));
}

void Http2Connection::Parts::on_frame(const nghttp2_frame& frame) {
  const int32_t id = frame.hd.stream_id;
  if (frame.hd.type == NGHTTP2_SETTINGS && !greeted) {
    greeted = true;
    idle_deadline = now + limits.http.header_timeout;
  }
  if (frame.hd.type == NGHTTP2_HEADERS) {
    Stream* stream = find(id);
    if (stream != nullptr && stream->phase == Phase::kHead && !refused) end_head(id, *stream);
  }
  if ((frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) &&
      (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    end_request(id);
  }
}

void Http2Connection::Parts::on_sent(const nghttp2_frame& frame) {
  if (is_complaint(frame)) ++counters.malformed;
  if (frame.hd.type == NGHTTP2_DATA) allowance.give(FrameAllowance::kForSentData);
  if ((frame.hd.type != NGHTTP2_DATA && frame.hd.type != NGHTTP2_HEADERS) ||
      (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
    return;
  }
  const Stream* stream = find(frame.hd.stream_id);
  if (stream == nullptr || stream->request_ended) return;
  // RFC 9113, 8.1: the answer is complete without the rest of the request.
  end_stream(frame.hd.stream_id, NGHTTP2_NO_ERROR);
}

void Http2Connection::Parts::close_stream(int32_t id) {
  const auto found = streams.find(id);
  if (found == streams.end()) return;
  unsent -= found->second.unsent();
  streams.erase(found);
  if (streams.empty()) idle_deadline = now + limits.http.idle_timeout;
  requests.on_end(id);
}

ssize_t Http2Connection::Parts::read_answer(int32_t id, uint8_t* to, size_t size, uint32_t* flags) {
  Stream* stream = find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const size_t count = std::min<size_t>(size, stream->unsent());
  std::memcpy(to, stream->answer.data() + stream->sent, count);
  stream->sent += count;
  unsent -= count;
  if (stream->unsent() > 0) return static_cast<ssize_t>(count);
  *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (!stream->trailers.empty()) {
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const std::vector<nghttp2_nv> values = values_of(stream->trailers);
    nghttp2_submit_trailer(session.get(), id, values.data(), values.size());
  }
  return static_cast<ssize_t>(count);
}

void Http2Connection::Parts::end_stream(int32_t id, uint32_t code) {
  nghttp2_submit_rst_stream(session.get(), NGHTTP2_FLAG_NONE, id, code);
}

Http2Connection::Http2Connection(const Http2Limits& limits, MemoryBudget& budget,
                                 HttpCounters& counters, Http2Requests& requests, Http2Time now)
    : parts_(std::make_unique<Parts>(limits, budget, counters, requests, now)) {}

Http2Connection::~Http2Connection() = default;

void Http2Connection::receive(std::string_view bytes, Http2Time now) {
  Parts& parts = *parts_;
  parts.now = now;
  if (parts.refused || parts.broken) return;
  const ssize_t used = nghttp2_session_mem_recv(
      parts.session.get(), reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (used >= 0) return;
  parts.broken = true;
  ++parts.counters.malformed;
}

std::string Http2Connection::take_output(Http2Time now) {
  Parts& parts = *parts_;
  parts.now = now;
  std::string out;
  if (parts.broken) return out;
  while (out.size() < kOutputBytes) {
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(parts.session.get(), &data);
    if (size < 0) parts.broken = true;
    if (size <= 0) break;
    out.append(view(data, static_cast<size_t>(size)));
  }
  return out;
}

bool Http2Connection::finished() const {
  nghttp2_session* session = parts_->session.get();
  return parts_->broken ||
         (nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0);
}

bool Http2Connection::congested() const {
  return nghttp2_session_get_outbound_queue_size(parts_->session.get()) > kMaxWaitingFrames;
}

void Http2Connection::answer(int32_t id, HttpResponse response, bool head_only,
                             MemoryBudget::Lease lease, Http2Time now) {
  Parts& parts = *parts_;
  parts.now = now;
  Stream* stream = parts.find(id);
  if (stream == nullptr || stream->phase == Phase::kAnswering) return;
  stream->phase = Phase::kAnswering;
  stream->message = {};
  Fields fields = {{":status", fmt::format("{}", response.status)}};
  Fields trailers;
  for (auto& [name, value] : sendable(response.headers)) {
    if (name.starts_with(kTrailerPrefix)) {
      trailers.emplace_back(name.substr(kTrailerPrefix.size()), std::move(value));
    } else {
      fields.emplace_back(std::move(name), std::move(value));
    }
  }
  if (head_only) response.body.clear();
  if (response.body.empty()) {
    // One block of headers says it all.
    for (auto& field : trailers) fields.push_back(std::move(field));
    trailers.clear();
  }
  stream->answer = std::move(response.body);
  stream->answer_lease = std::move(lease);
  stream->trailers = std::move(trailers);
  parts.unsent += stream->answer.size();
  // Answers share the connection: each may take as long as all that wait before it.
  stream->deadline = now + parts.limits.http.write_timeout + parts.time_for(parts.unsent);
  nghttp2_data_provider provider{};
  provider.read_callback = [](nghttp2_session*, int32_t stream_id, uint8_t* to, size_t size,
                              uint32_t* flags, nghttp2_data_source*, void* self) {
    return static_cast<Parts*>(self)->read_answer(stream_id, to, size, flags);
  };
  const std::vector<nghttp2_nv> values = values_of(fields);
  const bool has_body = !stream->answer.empty();
  if (nghttp2_submit_response(parts.session.get(), id, values.data(), values.size(),
                              has_body ? &provider : nullptr) != 0) {
    parts.end_stream(id, NGHTTP2_INTERNAL_ERROR);
  }
}

void Http2Connection::invite_body(int32_t id) {
  const nghttp2_nv status = field_of(":status", "100");
  nghttp2_submit_headers(parts_->session.get(), NGHTTP2_FLAG_NONE, id, nullptr, &status, 1,
                         nullptr);
}

void Http2Connection::go_away() {
  nghttp2_session* session = parts_->session.get();
  nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session), NGHTTP2_NO_ERROR, nullptr,
                        0);
}

Http2Time Http2Connection::deadline() const {
  if (parts_->streams.empty()) return parts_->idle_deadline;
  Http2Time first = Http2Time::max();
  for (const auto& [id, stream] : parts_->streams) first = std::min(first, stream.deadline);
  return first;
}

void Http2Connection::tick(Http2Time now) {
  Parts& parts = *parts_;
  parts.now = now;
  if (parts.streams.empty()) {
    if (now < parts.idle_deadline) return;
    if (!parts.greeted) ++parts.counters.timeouts;
    parts.refused = true;
    parts.idle_deadline = Http2Time::max();
    nghttp2_session_terminate_session(parts.session.get(), NGHTTP2_NO_ERROR);
    return;
  }
  for (auto& [id, stream] : parts.streams) {
    if (now < stream.deadline) continue;
    ++parts.counters.timeouts;
    stream.deadline = Http2Time::max();
    // Nothing else can follow a head that does not end.
    if (stream.phase == Phase::kHead) return void(parts.broken = true);
    parts.end_stream(id, NGHTTP2_CANCEL);
  }
}

size_t Http2Connection::streams() const {
  return parts_->streams.size();
}

uint64_t Http2Connection::unsent_bytes() const {
  return parts_->unsent;
}

}  // namespace vesta::server
