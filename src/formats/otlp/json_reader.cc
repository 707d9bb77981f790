#include "formats/common/parse_error.h"
#include "formats/otlp/json_mapping.h"
#include "formats/otlp/reader.h"

namespace vesta {
namespace {

std::string_view skip_space(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

// Whether `name` stands there as the name of a member. Inside a JSON string its closing quote would
// have a backslash before it.
bool has_member(std::string_view json, std::string_view quoted_name) {
  for (size_t at = json.find(quoted_name); at != std::string_view::npos;
       at = json.find(quoted_name, at + 1)) {
    if (skip_space(json.substr(at + quoted_name.size())).starts_with(':')) return true;
  }
  return false;
}

}  // namespace

bool looks_like_otlp_json(std::string_view bytes) {
  return skip_space(bytes).starts_with('{') &&
         (has_member(bytes, "\"resourceProfiles\"") || has_member(bytes, "\"resource_profiles\""));
}

namespace {

Result<ProfileBatch> read_json(std::string_view bytes, const ReadOptions& options,
                               OtlpOutcome* outcome) {
  VESTA_TRY(check_input_size("OTLP JSON", bytes, options.max_decoded_bytes));
  VESTA_ASSIGN(const std::string message, otlp::json_to_protobuf(bytes));
  return otlp::read_transcoded(message, options, outcome);
}

}  // namespace

Result<ProfileBatch> read_otlp_json(std::string_view bytes, const ReadOptions& options) {
  return read_json(bytes, options, nullptr);
}

Result<ProfileBatch> read_otlp_json_partly(std::string_view bytes, const ReadOptions& options,
                                           OtlpOutcome& outcome) {
  return read_json(bytes, options, &outcome);
}

}  // namespace vesta
