#include <fmt/format.h>

#include <algorithm>

#include "agent/export/codecs/payload_codecs.h"
#include "agent/export/codecs/resource.h"
#include "formats/common/compression.h"
#include "formats/pprof/writer.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {
namespace {

// What Pyroscope takes by default; a series with more is refused as a whole.
constexpr size_t kMaxLabels = 30;
constexpr size_t kMaxLabelBytes = 2048;

std::string_view cut_text(std::string_view text) {
  size_t end = std::min(text.size(), kMaxLabelBytes);
  while (end < text.size() && end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

void write_label(WireWriter& series, std::string_view name, std::string_view value) {
  WireWriter label;
  label.bytes(1, name);
  label.bytes(2, cut_text(value));
  series.message(1, label);
}

std::string encode_series(const Dictionary& dictionary, const Profile& profile, size_t& plain) {
  WireWriter series;
  size_t labels = 4;
  write_label(series, "__delta__", "false");
  const std::string_view family = dictionary.string(profile.name);
  write_label(series, "__name__", family.empty() ? "process_cpu" : family);
  write_label(series, "pyroscope_spy", "vesta");
  write_label(series, "service_name", service_name(dictionary, profile));
  for (const auto& [name, value] : plain_labels(dictionary, profile)) {
    if (labels == kMaxLabels) break;
    if (name == "pyroscope_spy") continue;
    write_label(series, name, value);
    ++labels;
  }
  const std::string pprof = write_pprof(dictionary, profile);
  plain += pprof.size();
  WireWriter sample;
  sample.bytes(1, gzip(pprof));
  series.message(2, sample);
  return series.take();
}

class PushCodec final : public PayloadCodec {
 public:
  explicit PushCodec(size_t payload_bytes) : payload_bytes_(payload_bytes) {}

  std::vector<Payload> encode(const Dictionary& dictionary,
                              std::span<const Profile> profiles) const override {
    std::vector<Payload> payloads;
    size_t plain = 0;  // in the last one
    for (const Profile& profile : profiles) {
      size_t bytes = 0;
      WireWriter message;
      message.always_bytes(1, encode_series(dictionary, profile, bytes));
      if (payloads.empty() || plain + bytes > payload_bytes_) {
        payloads.emplace_back();
        plain = 0;
      }
      plain += bytes;
      ++payloads.back().profiles;
      payloads.back().bytes += message.view();
    }
    return payloads;
  }

 private:
  const size_t payload_bytes_;
};

}  // namespace

std::unique_ptr<PayloadCodec> make_push_codec(size_t payload_bytes) {
  return std::make_unique<PushCodec>(payload_bytes);
}

}  // namespace vesta::agent
