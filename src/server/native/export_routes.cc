// A selection as a file of any format that Vesta writes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/time_words.h"
#include "reports/labelled_samples.h"
#include "reports/selection_profile.h"
#include "server/native/answer.h"
#include "store/engine.h"

namespace vesta::server {
namespace {

Result<std::string> draw(const ApiCall& call, const Question& question, const Selection& selection,
                         PictureFormat format) {
  VESTA_ASSIGN(TreeOptions options, read_tree_options(call));
  options.marks_inlined = true;
  PictureOptions picture;
  picture.title = question.type.id() + to_string(question.selector);
  VESTA_ASSIGN(picture.inverted, read_flag(call, "inverted"));
  return draw_flamegraph(report_header(question, selection, {}, selection.total),
                         build_flame_tree(selection, options), format, picture);
}

Result<std::string> encode(const ProfileBatch& batch, const FormatInfo& format) {
  EncodeOptions options;
  options.format = format.name;
  // "-" is what gzips pprof; the others are sent as they are.
  return encode_for_path(batch, "-", options);
}

Result<std::string> file_of(const ApiCall& call, const Question& question,
                            const FormatInfo& format) {
  VESTA_ASSIGN(const StackFilter filter, StackFilter::compile(read_filters(call)));
  VESTA_ASSIGN(const bool with_samples, read_flag(call, "samples"));
  if (with_samples) {
    if (!filter.empty() || format.is_picture) {
      return Error{ErrorCode::kUsage,
                   "samples=true cannot be combined with stack filters or flame graphs",
                   "remove it; samples of one stack are then added up"};
    }
    SamplesRequest request;
    VESTA_ASSIGN(request.select, select_request(call, question));
    request.keep_times = true;
    VESTA_ASSIGN(ProfileBatch batch, call.engine().samples(call.caller.tenant, request));
    if (const auto filters = read_label_filters(call)) VESTA_TRY(keep_labelled(batch, *filters));
    if (!format.name.starts_with("otlp")) {
      // A file of one profile covers the time of all series together.
      VESTA_ASSIGN(const Selection whole, select_all(call, question));
      const int64_t duration_ns = whole.covered.duration_ns();
      for (Profile& profile : batch.profiles) profile.duration_ns = duration_ns;
    }
    return encode(batch, format);
  }
  VESTA_ASSIGN(const Selection selection, select(call, question));
  if (const PictureFormat* picture = picture_format_named(format.name)) {
    return draw(call, question, selection, *picture);
  }
  return encode(to_profile_batch(selection, filter), format);
}

Result<HttpResponse> respond(const ApiCall& call, const Question& question,
                             const FormatInfo& format) {
  VESTA_ASSIGN(std::string body, file_of(call, question, format));
  return file_response(std::move(body), format);
}

// The files that can be asked for, the first one when nothing is said.
std::vector<FormatInfo> file_formats() {
  std::vector<FormatInfo> formats = list_formats();
  std::erase_if(formats, [](const FormatInfo& format) { return !format.is_written; });
  return formats;
}

Result<HttpResponse> export_file(const ApiCall& call) {
  const std::vector<FormatInfo> formats = file_formats();
  std::string names;
  for (const FormatInfo& format : formats) {
    names += (names.empty() ? "" : "|") + std::string(format.name);
  }
  VESTA_ASSIGN(const std::string name, read_word(call, "format", names));
  VESTA_ASSIGN(const Question question, read_question(call));
  return respond(call, question, *std::ranges::find(formats, name, &FormatInfo::name));
}

// What `go tool pprof URL` fetches. With -seconds it asks for that much time; here, the last.
Result<HttpResponse> pprof(const ApiCall& call) {
  HttpRequest request = call.request;
  if (const std::string seconds(call.parameter("seconds"));
      !seconds.empty() && call.parameter("from").empty()) {
    VESTA_TRY(parse_span_word(seconds + "s", "seconds"));
    request.query.emplace_back("from", "-" + seconds + "s");
  }
  const ApiCall asked{call.context, request, call.caller, call.file};
  VESTA_ASSIGN(const Question question, read_question(asked));
  return respond(asked, question, file_formats().front());
}

}  // namespace

std::span<const ApiRoute> export_routes() {
  static const std::array kRoutes = {
      get_route("/api/v1/export",
                {kSelectionParameters, kStackParameters, "format inverted samples"}, export_file),
      get_route("/api/v1/pprof", {kSelectionParameters, kStackParameters, "samples seconds"},
                pprof),
  };
  return kRoutes;
}

}  // namespace vesta::server
