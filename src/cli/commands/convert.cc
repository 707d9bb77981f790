#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"
#include "cli/source.h"
#include "formats/registry.h"

namespace vesta::cli {
namespace {

Result<std::string> draw(const ProfileBatch& batch, const PictureFormat& format,
                         const Arguments& arguments) {
  VESTA_ASSIGN(const TypeInfo type, find_type(list_types(batch), arguments.get("type")));
  const auto shared = std::make_shared<const ProfileBatch>(batch);
  MergedProfile profile = select_type(shared, type);
  if (profile.samples.empty())
    return Error{ErrorCode::kNoData, fmt::format("no samples of type {}", type.type), ""};
  if (const LabelFrames wanted = label_frames_of(arguments); !wanted.empty())
    profile = with_label_frames(profile, wanted);
  VESTA_ASSIGN(const FrameProfile frames, resolve_frames(profile, frame_options_of(arguments)));
  PictureOptions options;
  options.title = arguments.get("title", source_title(arguments.positional[0]));
  options.inverted = arguments.has("inverted");
  return draw_flamegraph(frames, format, options);
}

bool has_filters(const Arguments& arguments) {
  for (const Flag& flag : filter_flags()) {
    if (flag.name != "type" && arguments.has(flag.name)) return true;
  }
  return arguments.has("inverted") || arguments.has("title");
}

Result<int> run_convert(const Arguments& arguments, Console& console) {
  const std::string path = arguments.get("output");
  if (path.empty())
    return Error{ErrorCode::kUsage, "convert needs -o FILE", "for example: -o flame.html"};
  for (const std::string& source : arguments.positional) {
    if (is_selector(source))  // --to is a format here, and the end of a range there
      return Error{ErrorCode::kUsage, "cannot convert a selector",
                   "try vesta export SELECTOR -o FILE"};
  }
  VESTA_ASSIGN(const auto batch, load_sources(arguments.positional, arguments, console));
  std::string bytes;
  if (const PictureFormat* picture = picture_format_for_path(path)) {
    VESTA_ASSIGN(bytes, draw(*batch, *picture, arguments));
  } else {
    if (has_filters(arguments)) {
      return Error{ErrorCode::kUsage, "filters and titles apply to .svg and .html output only",
                   "remove the filters, and pass them to the command that reads the result"};
    }
    EncodeOptions options;
    options.type = arguments.get("type");
    options.format = arguments.get("format");
    VESTA_ASSIGN(bytes, encode_for_path(*batch, path, options));
  }
  VESTA_TRY(write_file(path, bytes));
  if (path != "-") console.note(fmt::format("wrote {}", path));
  return kOk;
}

}  // namespace

Command convert_command() {
  Command c;
  c.name = "convert";
  c.summary = "Convert a profile to another format or a flame graph";
  c.arguments = "SOURCE…";
  c.description =
      "The extension of the output file selects the format: " + writable_endings() + ".";
  c.examples = {"vesta convert recording.jfr -o cpu.pb.gz", "vesta convert cpu.pb.gz -o flame.html",
                "vesta convert perf.txt -o - --format folded  # to standard output",
                "vesta convert heap.pb.gz -t inuse_space -o heap.svg"};
  c.min_arguments = 1;
  c.flags =
      with_flags({{"output", 'o', "FILE", "output file, - for standard output"},
                  {"format", 0, "FORMAT", "output format, if the extension does not determine it",
                   writable_format_names()},
                  {"title", 0, "TEXT", "title of a flame graph"},
                  {"inverted", 0, "", "flame graph: functions first, their callers below"}},
                 {filter_flags(), file_flags()});
  c.run = run_convert;
  return c;
}

}  // namespace vesta::cli
