#include <fmt/format.h>

#include "agent/export/otlp_sender.h"
#include "agent/export/payload_codecs.h"
#include "formats/common/compression.h"
#include "formats/otlp/reader.h"
#include "formats/otlp/writer.h"

namespace vesta::agent {
namespace {

class OtlpCodec final : public PayloadCodec {
 public:
  OtlpCodec(std::string_view version, size_t payload_bytes)
      : options_{"vesta", std::string(version)}, payload_bytes_(payload_bytes) {}

  std::vector<QueueItem> encode(const ProfileBatch& batch) const override {
    std::vector<QueueItem> items;
    encode(batch.dictionary, batch.profiles, items);
    return items;
  }

  Result<std::string> slice(std::string_view payload, uint32_t first,
                            uint32_t count) const override {
    VESTA_ASSIGN(const std::string message, gunzip(payload, kMaxUnpackedPayload));
    ReadOptions options;
    options.keep_timestamps = true;
    options.otlp_layout = OtlpLayout::kV1_10;
    options.allow_negative = true;
    VESTA_ASSIGN(const ProfileBatch batch, read_otlp(message, options));
    if (uint64_t{first} + count > batch.profiles.size())
      return Error{ErrorCode::kInvalidInput, "the payload has fewer profiles than it should", ""};
    const std::span<const Profile> part(batch.profiles.data() + first, count);
    return gzip(write_otlp(batch.dictionary, part, options_));
  }

 private:
  // Profiles share most of their dictionary, so that the size of a part is only known when it is
  // written; nearly always the first attempt fits.
  void encode(const Dictionary& dictionary, std::span<const Profile> profiles,
              std::vector<QueueItem>& items) const {
    if (profiles.empty()) return;
    const std::string message = write_otlp(dictionary, profiles, options_);
    if (message.size() > payload_bytes_ && profiles.size() > 1) {
      const size_t half = profiles.size() / 2;
      encode(dictionary, profiles.first(half), items);
      encode(dictionary, profiles.subspan(half), items);
      return;
    }
    items.push_back({static_cast<uint32_t>(profiles.size()), gzip(message)});
  }

  const OtlpWriteOptions options_;
  const size_t payload_bytes_;
};

}  // namespace

std::unique_ptr<PayloadCodec> make_otlp_codec(std::string_view version, size_t payload_bytes) {
  return std::make_unique<OtlpCodec>(version, payload_bytes);
}

}  // namespace vesta::agent
