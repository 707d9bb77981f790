#include "server/ingest/push.h"

#include <fmt/format.h>

#include <vector>

#include "formats/common/parse_error.h"
#include "formats/pprof/reader.h"
#include "formats/protobuf/wire.h"
#include "ingest/unpack.h"
#include "server/ingest/responses.h"

namespace vesta::server {
namespace {

// Where the two messages differ.
struct Protocol {
  IngestProtocol id;
  const char* name;
  uint32_t series_field;    // of the request
  bool labels_are_wrapped;  // in a LabelSet
  uint32_t unstored_field;  // of the response: readings that were only compared; 0 = there is none
};
constexpr Protocol kPush{IngestProtocol::kPyroscopePush, "push request", 1, false, 1000};
constexpr Protocol kWriteRaw{IngestProtocol::kParca, "write request", 2, true, 0};

struct RawProfile {
  std::string_view bytes;
  std::string_view id;
};
struct RawSeries {
  LabelPairs labels;
  std::vector<RawProfile> profiles;
};

class RequestReader {
 public:
  RequestReader(const Protocol& protocol, std::string_view bytes)
      : protocol_(protocol), bytes_(bytes) {}

  Result<std::vector<RawSeries>> read() {
    std::vector<RawSeries> series;
    WireReader request(bytes_);
    while (request.next()) {
      if (request.field() != protocol_.series_field) {
        request.skip();
        continue;
      }
      WireReader message;
      if (!open(request, "series", message) || !read_series(message, series.emplace_back()))
        return std::move(error_);
    }
    if (!finished(request)) return std::move(error_);
    return series;
  }

 private:
  bool read_series(WireReader message, RawSeries& series) {
    while (message.next()) {
      WireReader inner;
      bool ok = true;
      if (message.field() == 1) {
        ok = open(message, "series.labels", inner) &&
             (protocol_.labels_are_wrapped ? read_label_set(inner, series)
                                           : read_label(inner, series));
      } else if (message.field() == 2) {
        ok = open(message, "series.samples", inner) && read_sample(inner, series);
      } else {
        message.skip();
      }
      if (!ok) return false;
    }
    return finished(message);
  }

  bool read_label_set(WireReader message, RawSeries& series) {
    while (message.next()) {
      WireReader label;
      if (message.field() != 1) {
        message.skip();
      } else if (!open(message, "labels", label) || !read_label(label, series)) {
        return false;
      }
    }
    return finished(message);
  }

  bool read_label(WireReader message, RawSeries& series) {
    // Far more than any limit of labels: that a name is there twice can be said of all the others.
    constexpr size_t kMaxLabels = 10'000;
    if (series.labels.size() == kMaxLabels)
      return fail(limit_error(protocol_.name, "number of labels of a series", kMaxLabels));
    auto& [name, value] = series.labels.emplace_back();
    while (message.next()) {
      if (message.field() > 2) {
        message.skip();
        continue;
      }
      if (message.type() != WireType::kBytes) return wrong_type(message, "labels");
      (message.field() == 1 ? name : value) = message.bytes();
    }
    return finished(message);
  }

  bool read_sample(WireReader message, RawSeries& series) {
    RawProfile profile;
    bool is_there = false;
    while (message.next()) {
      if (message.field() == 1) {
        if (message.type() != WireType::kBytes) return wrong_type(message, "raw_profile");
        profile.bytes = message.bytes();
        is_there = true;
      } else if (message.is(2, WireType::kBytes)) {
        profile.id = message.bytes();
      } else {
        message.skip();
      }
    }
    if (is_there) series.profiles.push_back(profile);
    return finished(message);
  }

  bool open(WireReader& reader, std::string_view field, WireReader& inner) {
    if (reader.type() != WireType::kBytes) return wrong_type(reader, field);
    inner = reader.message();
    return finished(reader);
  }
  bool wrong_type(const WireReader& reader, std::string_view field) {
    return fail(
        parse_error(protocol_.name, reader.offset(),
                    fmt::format("{}: has wire type {}", field, static_cast<int>(reader.type()))));
  }
  bool finished(const WireReader& reader) {
    if (reader.ok()) return true;
    return fail(parse_error(protocol_.name, reader.offset(), reader.problem(),
                            "the message is cut off or of another type"));
  }
  bool fail(Error error) {
    error_ = std::move(error);
    return false;
  }

  const Protocol& protocol_;
  std::string_view bytes_;
  Error error_;
};

Result<IngestReceipt> write_profile(Ingest& ingest, const Caller& caller, std::string_view raw,
                                    const ReadOptions& options, IngestHints& hints) {
  VESTA_ASSIGN(const Unpacked unpacked, Unpacked::make(raw, options.max_decoded_bytes));
  VESTA_ASSIGN(ProfileBatch batch, read_pprof(unpacked.bytes(), options));
  hints.decoded_bytes = unpacked.bytes().size();
  return ingest.write(caller.tenant, std::move(batch), hints);
}

// One error of several: the gravest code, so that a client tries again when that may help.
class Failures {
 public:
  void add(Error error, std::string_view place) {
    if (count_++ == 0) {
      first_ = with_context(std::move(error), place);
    } else if (error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTooMany) {
      first_.code = error.code;
    }
  }
  bool any() const { return count_ > 0; }
  Error take(size_t profiles) {
    if (count_ > 1 || profiles > 1)
      first_.message += fmt::format(" ({} of {} profiles failed)", count_, profiles);
    return std::move(first_);
  }

 private:
  size_t count_ = 0;
  Error first_;
};

Result<std::string> write_series(Ingest& ingest, const Protocol& protocol, std::string_view request,
                                 const Caller& caller) {
  VESTA_TRY(begin_ingest(ingest, protocol.id, caller, request.size()));
  VESTA_ASSIGN(const std::vector<RawSeries> all, RequestReader(protocol, request).read());
  size_t profiles = 0;
  for (const RawSeries& series : all) profiles += series.profiles.size();
  const ReadOptions options = ingest.read_options(caller.tenant);
  Failures failures;
  WireWriter response;
  uint64_t unstored = 0;
  const std::string_view request_id = caller.header(kIdempotencyHeader);
  for (size_t i = 0; i < all.size(); ++i) {
    IngestHints hints;
    hints.protocol = protocol.id;
    hints.labels = all[i].labels;
    hints.delta = DeltaMode::kIfFollowing;
    // One wait for the disk, however many there are.
    hints.durable = profiles == 1;
    for (size_t j = 0; j < all[i].profiles.size(); ++j) {
      const RawProfile& profile = all[i].profiles[j];
      // The request's own name is not enough for each of its profiles.
      hints.id = !profile.id.empty() || request_id.empty()
                     ? std::string(profile.id)
                     : fmt::format("{} {} {}", request_id, i, j);
      auto receipt = write_profile(ingest, caller, profile.bytes, options, hints);
      if (receipt) {
        unstored += receipt->baselines + receipt->stale;
      } else {
        failures.add(std::move(receipt).error(), fmt::format("series[{}].samples[{}]", i, j));
      }
    }
  }
  if (profiles > 1) VESTA_TRY(ingest.flush());
  if (failures.any()) return failures.take(profiles);
  if (protocol.unstored_field != 0) response.uint64(protocol.unstored_field, unstored);
  return response.take();
}

Result<std::string> counted(Ingest& ingest, const Protocol& protocol, std::string_view request,
                            const Caller& caller) {
  auto result = write_series(ingest, protocol, request, caller);
  if (!result) ingest.counters().count_refusal(protocol.id, result.error().code);
  return result;
}

}  // namespace

Result<std::string> handle_push(Ingest& ingest, std::string_view request, const Caller& caller) {
  return counted(ingest, kPush, request, caller);
}

Result<std::string> handle_write_raw(Ingest& ingest, std::string_view request,
                                     const Caller& caller) {
  return counted(ingest, kWriteRaw, request, caller);
}

}  // namespace vesta::server
