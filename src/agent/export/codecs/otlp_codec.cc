#include "agent/export/codecs/payload_codecs.h"
#include "formats/otlp/writer.h"

namespace vesta::agent {
namespace {

class OtlpCodec final : public PayloadCodec {
 public:
  OtlpCodec(std::string_view version, size_t payload_bytes)
      : options_{"vesta", std::string(version)}, payload_bytes_(payload_bytes) {}

  std::vector<Payload> encode(const Dictionary& dictionary,
                              std::span<const Profile> profiles) const override {
    std::vector<Payload> payloads;
    encode(dictionary, profiles, payloads);
    return payloads;
  }

 private:
  // Profiles share most of their dictionary, so that the size of a part is only known when it is
  // written; nearly always the first attempt fits.
  void encode(const Dictionary& dictionary, std::span<const Profile> profiles,
              std::vector<Payload>& payloads) const {
    if (profiles.empty()) return;
    std::string message = write_otlp(dictionary, profiles, options_);
    if (message.size() > payload_bytes_ && profiles.size() > 1) {
      const size_t half = profiles.size() / 2;
      encode(dictionary, profiles.first(half), payloads);
      encode(dictionary, profiles.subspan(half), payloads);
      return;
    }
    payloads.push_back({static_cast<uint32_t>(profiles.size()), std::move(message)});
  }

  const OtlpWriteOptions options_;
  const size_t payload_bytes_;
};

}  // namespace

std::unique_ptr<PayloadCodec> make_otlp_codec(std::string_view version, size_t payload_bytes) {
  return std::make_unique<OtlpCodec>(version, payload_bytes);
}

}  // namespace vesta::agent
