// A selection as a file of any format that Vesta writes.
#include <fmt/format.h>

#include <array>

#include "formats/registry.h"
#include "query/selection_profile.h"
#include "query/time_words.h"
#include "server/native/question.h"

namespace vesta::server {
namespace {

struct FileKind {
  std::string_view format;
  std::string_view content_type;
  std::string_view ending;
};
constexpr std::array kFileKinds = {
    FileKind{"pprof", "application/octet-stream", ".pb.gz"},
    FileKind{"folded", "text/plain; charset=utf-8", ".folded"},
    FileKind{"speedscope", "application/json", ".speedscope.json"},
    FileKind{"otlp", "application/x-protobuf", ".otlp"},
    FileKind{"otlp-json", "application/json", ".otlp.json"},
    FileKind{"flamebearer", "application/json", ".flamebearer.json"},
    FileKind{"svg", "image/svg+xml", ".svg"},
    FileKind{"html", "text/html; charset=utf-8", ".html"},
};

Result<std::string> draw(const ApiCall& call, const Question& question, const Selection& selection,
                         PictureFormat format) {
  FrameOptions options;
  options.filters = read_filters(call);
  VESTA_ASSIGN(const FrameProfile frames, resolve_frames(to_merged_profile(selection), options));
  PictureOptions picture;
  picture.title = question.type.id() + to_string(question.selector);
  VESTA_ASSIGN(picture.inverted, read_flag(call, "inverted"));
  return draw_flamegraph(frames, format, picture);
}

Result<std::string> encode(const ProfileBatch& batch, const FileKind& kind) {
  EncodeOptions options;
  options.format = kind.format;
  // "-" is what gzips pprof; the others are sent as they are.
  return encode_for_path(batch, "-", options);
}

Result<std::string> file_of(const ApiCall& call, const Question& question, const FileKind& kind) {
  VESTA_ASSIGN(const StackFilter filter, StackFilter::compile(read_filters(call)));
  VESTA_ASSIGN(const bool with_samples, read_flag(call, "samples"));
  if (with_samples) {
    if (!filter.empty() || kind.format == "svg" || kind.format == "html") {
      return Error{ErrorCode::kUsage, "samples=true goes with neither stack filters nor pictures",
                   "leave it out: then samples of one stack are added up"};
    }
    SamplesRequest request;
    VESTA_ASSIGN(request.select, select_request(call, question));
    request.keep_times = true;
    VESTA_ASSIGN(ProfileBatch batch, call.engine().samples(call.caller.tenant, request));
    if (!kind.format.starts_with("otlp")) {
      // A file of one profile covers the time of all series together.
      VESTA_ASSIGN(const Selection whole, select(call, question));
      const int64_t duration_ns = whole.covered.duration_ns();
      for (Profile& profile : batch.profiles) profile.duration_ns = duration_ns;
    }
    return encode(batch, kind);
  }
  VESTA_ASSIGN(const Selection selection, select(call, question));
  if (kind.format == "svg") return draw(call, question, selection, PictureFormat::kSvg);
  if (kind.format == "html") return draw(call, question, selection, PictureFormat::kHtml);
  return encode(to_profile_batch(selection, filter), kind);
}

Result<HttpResponse> respond(const ApiCall& call, const Question& question, const FileKind& kind) {
  HttpResponse response;
  VESTA_ASSIGN(response.body, file_of(call, question, kind));
  response.content_type = kind.content_type;
  response.compressible = kind.format != "pprof";
  // The name is made of words of ours, so that nothing in it needs quoting.
  response.headers.emplace_back("Content-Disposition",
                                fmt::format("attachment; filename=\"profile{}\"", kind.ending));
  return response;
}

Result<HttpResponse> export_file(const ApiCall& call) {
  VESTA_ASSIGN(
      const std::string format,
      read_word(call, "format", "pprof|folded|speedscope|otlp|otlp-json|flamebearer|svg|html"));
  VESTA_ASSIGN(const Question question, read_question(call));
  for (const FileKind& kind : kFileKinds) {
    if (kind.format == format) return respond(call, question, kind);
  }
  return Error{ErrorCode::kUnsupported, "no such format", ""};
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
  return respond(asked, question, kFileKinds[0]);
}

}  // namespace

std::span<const ApiRoute> export_routes() {
  static const std::array kRoutes = {
      ApiRoute{"GET",
               "/api/v1/export",
               Scope::kRead,
               {kSeriesParameters, kSampleParameters, kStackParameters, "format inverted samples"},
               export_file},
      ApiRoute{"GET",
               "/api/v1/pprof",
               Scope::kRead,
               {kSeriesParameters, kSampleParameters, kStackParameters, "samples seconds"},
               pprof},
  };
  return kRoutes;
}

}  // namespace vesta::server
