// Protocols that take one profile at a time: files, and Pyroscope's `/ingest`.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "agent/export/codecs/payload_codecs.h"
#include "agent/export/codecs/resource.h"
#include "base/time.h"
#include "formats/common/compression.h"
#include "formats/pprof/writer.h"
#include "formats/protobuf/wire.h"
#include "profile/merge/dictionary_map.h"
#include "profile/merge/merge.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxServiceBytes = 100;

// Letters, digits and the given others; the rest becomes underscores.
std::string only(std::string_view text, std::string_view others) {
  std::string out(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    const bool keep = byte < 0x80 && (std::isalnum(byte) != 0 || others.find(c) != others.npos);
    if (!keep) c = '_';
  }
  return out;
}

// "service{k=v,k=v}", where no value may have a comma, a brace or a control character.
std::string app_name(const Dictionary& dictionary, const Profile& profile) {
  std::string out = only(service_name(dictionary, profile), "_.-/") + "{";
  bool is_first = true;
  for (const auto& [name, value] : plain_labels(dictionary, profile)) {
    std::string text = value;
    for (char& c : text) {
      if (c == ',' || c == '}' || c == '{' || c == '=' || static_cast<uint8_t>(c) < 0x20) c = '_';
    }
    out += fmt::format("{}{}={}", is_first ? "" : ",", name, text);
    is_first = false;
  }
  return out + "}";
}

// "20261115T131405.123Z", which sorts by time and may stand in a file name.
std::string compact_time(int64_t unix_ns) {
  return fmt::format("{:%Y%m%dT%H%M%S}.{:03}Z", fmt::gmtime(unix_ns / kSecond),
                     unix_ns % kSecond / kMillisecond);
}

// "checkout_4242_20261115T131405.123Z_process_cpu.pb.gz"
std::string file_name(const Dictionary& dictionary, const Profile& profile) {
  std::string service = only(service_name(dictionary, profile), "-.").substr(0, kMaxServiceBytes);
  if (service.starts_with('.')) service[0] = '_';
  const std::string pid = only(resource_text(dictionary, profile, "process.pid"), "");
  const std::string_view family = dictionary.string(profile.name);
  return fmt::format("{}_{}_{}_{}.pb.gz", service, pid.empty() ? "0" : pid,
                     compact_time(std::max<int64_t>(profile.time_ns, 0)),
                     family.empty() ? "profile" : only(family, "_").substr(0, kMaxServiceBytes));
}

// A file stands alone: who was profiled goes into the labels of its samples.
std::string pprof_with_resource(const Dictionary& dictionary, const Profile& profile) {
  ProfileBatch alone;
  DictionaryBuilder builder(alone.dictionary);
  DictionaryMap map(dictionary, builder);
  Profile copy = profile;
  copy.name = map.string(profile.name);
  copy.resource = map.label_set(profile.resource);
  const auto type = [&](SampleType& t) {
    t.type = map.string(t.type);
    t.unit = map.string(t.unit);
  };
  for (SampleType& t : copy.sample_types) type(t);
  type(copy.period_type);
  for (StringId& comment : copy.comments) comment = map.string(comment);
  copy.doc_url = map.string(copy.doc_url);
  copy.drop_frames = map.string(copy.drop_frames);
  copy.keep_frames = map.string(copy.keep_frames);
  for (Loss& loss : copy.losses) loss.reason = map.string(loss.reason);
  for (StackId& stack : copy.samples.stacks) stack = map.stack(stack);
  for (LabelSetId& labels : copy.samples.labels) labels = map.label_set(labels);
  for (LinkId& link : copy.samples.links) link = map.link(link);
  alone.profiles.push_back(std::move(copy));
  return write_pprof(flatten(std::move(alone)));
}

int64_t cpu_period(const Dictionary& dictionary, const Profile& profile) {
  const bool is_time = dictionary.string(profile.period_type.unit) == "nanoseconds";
  return is_time ? std::max<int64_t>(profile.period, 0) : 0;
}

using NameOf = std::string (*)(const Dictionary&, const Profile&);

class SingleCodec final : public PayloadCodec {
 public:
  SingleCodec(NameOf name_of, bool with_resource)
      : name_of_(name_of), with_resource_(with_resource) {}

  std::vector<Payload> encode(const Dictionary& dictionary,
                              std::span<const Profile> profiles) const override {
    std::vector<Payload> payloads;
    for (const Profile& profile : profiles) {
      SingleProfile single;
      single.name = name_of_(dictionary, profile);
      single.from_ns = profile.time_ns;
      single.until_ns = profile.time_ns + profile.duration_ns;
      single.period_ns = cpu_period(dictionary, profile);
      single.family = dictionary.string(profile.name);
      single.pprof = gzip(with_resource_ ? pprof_with_resource(dictionary, profile)
                                         : write_pprof(dictionary, profile));
      payloads.push_back({1, encode_single(single)});
    }
    return payloads;
  }

 private:
  const NameOf name_of_;
  const bool with_resource_;
};

}  // namespace

std::string encode_single(const SingleProfile& profile) {
  WireWriter out;
  out.bytes(1, profile.name);
  out.int64(2, profile.from_ns);
  out.int64(3, profile.until_ns);
  out.int64(4, profile.period_ns);
  out.bytes(5, profile.family);
  out.bytes(6, profile.pprof);
  return out.take();
}

Result<SingleProfile> decode_single(std::string_view payload) {
  SingleProfile profile;
  WireReader reader(payload);
  while (reader.next()) {
    const bool is_text = reader.type() == WireType::kBytes;
    const bool is_number = reader.type() == WireType::kVarint;
    if (is_text && reader.field() == 1) {
      profile.name = reader.bytes();
    } else if (is_number && reader.field() == 2) {
      profile.from_ns = reader.int64();
    } else if (is_number && reader.field() == 3) {
      profile.until_ns = reader.int64();
    } else if (is_number && reader.field() == 4) {
      profile.period_ns = reader.int64();
    } else if (is_text && reader.field() == 5) {
      profile.family = reader.bytes();
    } else if (is_text && reader.field() == 6) {
      profile.pprof = reader.bytes();
    } else {
      reader.skip();
    }
  }
  if (!reader.ok() || profile.name.empty())
    return Error{ErrorCode::kInvalidInput, "the payload in the queue is of another version", ""};
  return profile;
}

std::unique_ptr<PayloadCodec> make_pyroscope_ingest_codec() {
  return std::make_unique<SingleCodec>(&app_name, false);
}

std::unique_ptr<PayloadCodec> make_file_codec() {
  return std::make_unique<SingleCodec>(&file_name, true);
}

}  // namespace vesta::agent
