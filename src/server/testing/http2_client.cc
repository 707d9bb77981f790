#include "server/testing/http2_client.h"

#include <algorithm>
#include <cstring>

namespace vesta::server::testing {

Http2Client::Http2Client(uint32_t window) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(
      callbacks,
      [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
         const uint8_t* value, size_t value_size, uint8_t, void* self) {
        Answer& answer = static_cast<Http2Client*>(self)->answers[frame->hd.stream_id];
        auto& fields =
            frame->headers.cat == NGHTTP2_HCAT_RESPONSE ? answer.headers : answer.trailers;
        fields.emplace(std::string(name, name + name_size), std::string(value, value + value_size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      callbacks,
      [](nghttp2_session*, uint8_t, int32_t id, const uint8_t* data, size_t size, void* self) {
        static_cast<Http2Client*>(self)->answers[id].body.append(data, data + size);
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
        auto& client = *static_cast<Http2Client*>(self);
        if (frame->hd.type == NGHTTP2_GOAWAY) client.goaway = frame->goaway.error_code;
        if ((frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
            (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
          client.answers[frame->hd.stream_id].ended = true;
        }
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      callbacks, [](nghttp2_session*, int32_t id, uint32_t code, void* self) {
        static_cast<Http2Client*>(self)->answers[id].closed = code;
        return 0;
      });
  nghttp2_option* options = nullptr;
  nghttp2_option_new(&options);
  if (window == 0) nghttp2_option_set_no_auto_window_update(options, 1);
  // Also heads that no server takes.
  nghttp2_option_set_max_send_header_block_length(options, 16 << 20);
  nghttp2_session_client_new2(&session_, callbacks, this, options);
  nghttp2_option_del(options);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &entry, 1);
}

Http2Client::~Http2Client() {
  nghttp2_session_del(session_);
}

int32_t Http2Client::request(const std::string& method, const std::string& path, const Fields& more,
                             const std::optional<std::string>& body, bool end) {
  Fields fields = {
      {":method", method}, {":scheme", "http"}, {":authority", "localhost"}, {":path", path}};
  fields.insert(fields.end(), more.begin(), more.end());
  std::vector<nghttp2_nv> values;
  for (auto& [name, value] : fields) {
    values.push_back({reinterpret_cast<uint8_t*>(name.data()),
                      reinterpret_cast<uint8_t*>(value.data()), name.size(), value.size(), 0});
  }
  nghttp2_data_provider provider{};
  if (body) {
    bodies_.push_back(std::make_unique<Body>(Body{*body, 0, end}));
    provider.source.ptr = bodies_.back().get();
    provider.read_callback = [](nghttp2_session*, int32_t, uint8_t* to, size_t size,
                                uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
      auto& sent = *static_cast<Body*>(source->ptr);
      const size_t count = std::min(size, sent.bytes.size() - sent.at);
      if (count == 0 && !sent.end) return NGHTTP2_ERR_DEFERRED;
      std::memcpy(to, sent.bytes.data() + sent.at, count);
      sent.at += count;
      if (sent.at == sent.bytes.size() && sent.end) *flags |= NGHTTP2_DATA_FLAG_EOF;
      return static_cast<ssize_t>(count);
    };
  }
  return nghttp2_submit_request(session_, nullptr, values.data(), values.size(),
                                body ? &provider : nullptr, nullptr);
}

void Http2Client::reset(int32_t stream) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}
void Http2Client::ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
}

std::string Http2Client::output() {
  std::string out;
  const uint8_t* data = nullptr;
  while (true) {
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size <= 0) return out;
    out.append(data, data + size);
  }
}
void Http2Client::receive(std::string_view bytes) {
  nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace vesta::server::testing
