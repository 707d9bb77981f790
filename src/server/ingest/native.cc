#include "server/ingest/native.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/json_writer.h"
#include "base/time_words.h"
#include "ingest/profile_types.h"
#include "ingest/pyroscope/app_name.h"
#include "ingest/read_file.h"
#include "ingest/unpack.h"
#include "profile/merge/transform.h"
#include "profile/merged_profile.h"
#include "server/ingest/responses.h"
#include "store/selector.h"

namespace vesta::server {
namespace {

constexpr IngestProtocol kNativeProtocol = IngestProtocol::kNative;

// {a="b"} as in queries, or a=b,c=d.
Result<LabelPairs> parse_labels(std::string_view text) {
  if (text.find_first_of("\"`'") == std::string_view::npos)
    return pyroscope::parse_bare_labels(text);
  VESTA_ASSIGN(const TypedSelector parsed, parse_selector(text));
  LabelPairs labels;
  for (const LabelMatcher& matcher : parsed.selector) {
    if (matcher.op() != MatchOperator::kEqual || !parsed.type.empty()) {
      return Error{ErrorCode::kUsage, "labels: only name=\"value\" is supported",
                   "as in labels={region=\"eu\"}"};
    }
    labels.emplace_back(matcher.name(), matcher.value());
  }
  return labels;
}

bool has_one_type_each(const ProfileBatch& batch) {
  for (const Profile& profile : batch.profiles) {
    if (profile.sample_types.size() != 1) return false;
  }
  return true;
}

Status apply_type(std::string_view text, double sample_rate, ProfileBatch& batch,
                  IngestHints& hints) {
  if (text.empty()) return {};
  Dictionary& dictionary = batch.dictionary;
  if (text.find(':') != std::string_view::npos) {
    VESTA_ASSIGN(const ProfileType type, ProfileType::parse(text));
    if (!has_one_type_each(batch)) {
      VESTA_ASSIGN(const TypeInfo found,
                   find_type(list_types(batch), type.sample_type + ":" + type.sample_unit));
      batch = only_type(std::move(batch), found);
    }
    for (Profile& profile : batch.profiles) set_type(dictionary, profile, type);
    return {};
  }
  const ProfileTypeRow* word = find_pyroscope_word(text);
  if (word == nullptr || !has_one_type_each(batch)) {
    hints.labels.emplace_back("__name__", text);
    return {};
  }
  for (Profile& profile : batch.profiles) apply_type_word(dictionary, profile, *word, sample_rate);
  return {};
}

Result<double> sample_rate_of(const HttpRequest& request) {
  const auto text = request.find_parameter("sample_rate");
  if (!text) return 100.0;
  double rate = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), rate);
  if (error == std::errc() && end == text->data() + text->size() && rate >= 0 && rate <= 1e9)
    return rate;
  return Error{ErrorCode::kUsage, "sample_rate: not a number of samples per second", ""};
}

Result<IngestReceipt> ingest_file(Ingest& ingest, const HttpRequest& request,
                                  const Caller& caller) {
  VESTA_TRY(begin_ingest(ingest, kNativeProtocol, caller, request.body.size()));
  IngestHints hints;
  hints.protocol = kNativeProtocol;
  hints.id = request.header(kIdempotencyHeader);
  for (const std::string_view text : request.parameters("labels")) {
    VESTA_ASSIGN(LabelPairs labels, parse_labels(text));
    std::ranges::move(labels, std::back_inserter(hints.labels));
  }
  if (const auto service = request.parameter("service_name"); !service.empty())
    hints.labels.emplace_back(kServiceLabel, service);
  const std::string_view delta = request.parameter("delta");
  if (delta == "true") hints.delta = DeltaMode::kAlways;
  VESTA_ASSIGN(const double sample_rate, sample_rate_of(request));

  const ReadOptions options = ingest.read_options(caller.tenant);
  VESTA_ASSIGN(const Unpacked unpacked, Unpacked::make(request.body, options.max_decoded_bytes));
  hints.decoded_bytes = unpacked.bytes().size();
  VESTA_ASSIGN(FileContent content,
               read_file(unpacked.bytes(), request.parameter("format"), options));
  ProfileBatch& batch = content.batch;
  hints.sample_labels = content.sample_labels;
  VESTA_TRY(apply_type(request.parameter("type"), sample_rate, batch, hints));
  if (const auto text = request.parameter("time"); !text.empty()) {
    VESTA_ASSIGN(const int64_t time_ns, parse_time_word(text, ingest.now_ns(), "time"));
    for (Profile& profile : batch.profiles) profile.time_ns = time_ns;
  }
  return ingest.write(caller.tenant, std::move(batch), hints);
}

}  // namespace

HttpResponse handle_native_profiles(Ingest& ingest, const HttpRequest& request,
                                    const Caller& caller) {
  const auto receipt = ingest_file(ingest, request, caller);
  if (!receipt) return refusal(ingest, kNativeProtocol, caller, receipt.error());
  JsonWriter json;
  json.begin_object();
  json.field("profiles", receipt->stored.profiles);
  json.field("samples", receipt->stored.samples);
  json.field("duplicates", receipt->stored.duplicates);
  json.field("expired", receipt->stored.expired);
  json.field("new_series", receipt->stored.new_series);
  json.field("new_stacks", receipt->stored.new_stacks);
  json.field("baselines", receipt->baselines + receipt->stale);
  json.end_object();
  return json_response(json.take());
}

}  // namespace vesta::server
