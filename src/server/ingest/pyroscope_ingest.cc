#include "server/ingest/pyroscope_ingest.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/time_words.h"
#include "ingest/pyroscope/payload.h"
#include "server/ingest/multipart.h"
#include "server/ingest/responses.h"

namespace vesta::server {
namespace {

using pyroscope::Payload;
using pyroscope::PayloadFormat;

constexpr IngestProtocol kPyroscopeProtocol = IngestProtocol::kPyroscopeIngest;

PayloadFormat format_of(const HttpRequest& request) {
  const std::string_view word = request.parameter("format");
  const std::string_view type = request.header("content-type");
  const auto has = [&](std::string_view part) { return type.find(part) != std::string_view::npos; };
  if (word == "trie" || has("octet-stream+trie")) return PayloadFormat::kTrie;
  if (word == "tree" || has("octet-stream+tree")) return PayloadFormat::kTree;
  if (word == "lines") return PayloadFormat::kLines;
  if (word == "jfr") return PayloadFormat::kJfr;
  if (word == "pprof") return PayloadFormat::kPprof;
  if (word == "speedscope") return PayloadFormat::kSpeedscope;
  return is_multipart(type) ? PayloadFormat::kPprof : PayloadFormat::kGroups;
}

// A rate that is no number counts as not given; 0 says that nothing is to be made of it.
double sample_rate_of(std::string_view text) {
  constexpr double kDefault = 100;
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && std::isfinite(rate) && rate >= 0 && rate <= 1e9 ? rate : kDefault;
}

Result<int64_t> time_parameter(const HttpRequest& request, std::string_view name, int64_t now_ns) {
  const std::string_view text = request.parameter(name);
  if (text.empty()) return now_ns;
  return parse_time_word(text, now_ns, name);
}

Status find_content(const HttpRequest& request, const std::vector<FormPart>& parts,
                    Payload& payload) {
  if (!is_multipart(request.header("content-type"))) {
    payload.profile = request.body;
    return {};
  }
  if (find_part(parts, "prev_profile") != nullptr) {
    return Error{ErrorCode::kInvalidInput,
                 "prev_profile: pairs of profiles are no longer supported",
                 "update the client to one that sends differences"};
  }
  const std::string_view wanted = payload.format == PayloadFormat::kJfr ? "jfr" : "profile";
  const FormPart* profile = find_part(parts, wanted);
  if (profile == nullptr) {
    return Error{ErrorCode::kInvalidInput, fmt::format("multipart body: no part '{}'", wanted), ""};
  }
  payload.profile = profile->content;
  if (const FormPart* config = find_part(parts, "sample_type_config"))
    payload.sample_type_config = config->content;
  if (const FormPart* labels = find_part(parts, "labels")) payload.labels = labels->content;
  return {};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// What is wrong with the URL is answered with 400, what is wrong with the body with 422.
struct Failure {
  Error error;
  int invalid_status = 422;
};

std::optional<Failure> ingest_request(Ingest& ingest, const HttpRequest& request,
                                      const Caller& caller) {
  const auto fail = [](Error error, int status = 422) { return Failure{std::move(error), status}; };
  if (auto status = begin_ingest(ingest, kPyroscopeProtocol, caller, request.body.size()); !status)
    return fail(std::move(status).error());
  const int64_t now_ns = ingest.now_ns();
  Payload payload;
  payload.java_names = ingest.java_names();
  payload.format = format_of(request);
  auto name = pyroscope::parse_app_name(request.parameter("name"));
  if (!name) return fail(std::move(name).error(), 400);
  payload.name = std::move(name).value();
  auto until = time_parameter(request, "until", now_ns);
  if (!until) return fail(std::move(until).error());
  auto from = time_parameter(request, "from", now_ns);
  if (!from) return fail(std::move(from).error());
  payload.from_ns = *from;
  payload.until_ns = *until;
  payload.sample_rate = sample_rate_of(request.parameter("sampleRate"));
  if (const auto spy = request.parameter("spyName"); !spy.empty()) payload.spy = spy;

  std::vector<FormPart> parts;
  if (is_multipart(request.header("content-type"))) {
    auto parsed = parse_multipart(request.header("content-type"), request.body);
    if (!parsed) return fail(std::move(parsed).error());
    parts = std::move(parsed).value();
  }
  if (auto status = find_content(request, parts, payload); !status)
    return fail(std::move(status).error());
  const bool is_text =
      payload.format == PayloadFormat::kGroups || payload.format == PayloadFormat::kLines;
  if (is_text && is_blank(payload.profile)) return {};
  // Stacks of a span alone, which early clients sent beside those of the whole program.
  if (names_type_by_suffix(payload.format)) {
    for (const auto& [key, value] : payload.name.labels) {
      if (key == "profile_id" && !value.empty()) return {};
    }
  }
  auto read = pyroscope::read_payload(payload, ingest.read_options(caller.tenant));
  if (!read) return fail(std::move(read).error());
  read->hints.id = request.header(kIdempotencyHeader);
  auto receipt = ingest.write(caller.tenant, std::move(read->batch), read->hints);
  if (!receipt) return fail(std::move(receipt).error());
  return {};
}

}  // namespace

HttpResponse handle_pyroscope_ingest(Ingest& ingest, const HttpRequest& request,
                                     const Caller& caller) {
  if (const auto failure = ingest_request(ingest, request, caller))
    return refusal(ingest, kPyroscopeProtocol, caller, failure->error, failure->invalid_status);
  return {};
}

}  // namespace vesta::server
