#include "formats/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/suggest.h"
#include "formats/common/compression.h"
#include "formats/flamebearer/reader.h"
#include "formats/flamebearer/writer.h"
#include "formats/flamegraph/flamegraph.h"
#include "formats/folded/reader.h"
#include "formats/folded/writer.h"
#include "formats/jfr/reader.h"
#include "formats/known_files.h"
#include "formats/otlp/reader.h"
#include "formats/otlp/writer.h"
#include "formats/perfscript/reader.h"
#include "formats/pprof/reader.h"
#include "formats/pprof/writer.h"
#include "formats/speedscope/reader.h"
#include "formats/speedscope/writer.h"
#include "profile/merge/merge.h"
#include "profile/merge/transform.h"
#include "profile/merged_profile.h"

namespace vesta {
namespace {

using Recognise = bool (*)(std::string_view);
using Read = Result<ProfileBatch> (*)(std::string_view, const ReadOptions&);
using Write = std::string (*)(const ProfileBatch&);

// How much of a batch fits into a file of the format.
enum class Holds { kEverything, kOneProfile, kOneType };

struct Format {
  std::string_view name;
  std::string_view title;
  std::string_view ending;  // empty for formats that are only read
  std::string_view content_type;
  Recognise recognise;
  Read read;
  Write write;
  Holds holds;
};

// One profile of all, within 2 GiB of values: a file with very many profiles of different types
// would grow with their square.
Result<ProfileBatch> flattened(ProfileBatch batch) {
  constexpr uint64_t kMaxValues = 256u << 20;
  if (flattened_value_count(batch) > kMaxValues) {
    return Error{ErrorCode::kLimit, "cannot merge this many different profiles into one",
                 "convert to .otlp, which keeps them separate"};
  }
  return flatten(std::move(batch));
}

constexpr std::string_view kJson = "application/json";

const std::array kFormats = {
    Format{"pprof", "pprof", ".pb.gz", "application/octet-stream", looks_like_pprof, read_pprof,
           write_pprof, Holds::kOneProfile},
    Format{"folded", "Folded stacks", ".folded", "text/plain; charset=utf-8", looks_like_folded,
           read_folded, [](const ProfileBatch& batch) { return write_folded(batch); },
           Holds::kOneType},
    Format{"speedscope", "speedscope", ".speedscope.json", kJson, looks_like_speedscope,
           read_speedscope, [](const ProfileBatch& batch) { return write_speedscope(batch); },
           Holds::kEverything},
    Format{"otlp", "OTLP", ".otlp", "application/x-protobuf", looks_like_otlp, read_otlp,
           write_otlp, Holds::kEverything},
    Format{"otlp-json", "OTLP as JSON", ".otlp.json", kJson, looks_like_otlp_json, read_otlp_json,
           write_otlp_json, Holds::kEverything},
    Format{"flamebearer", "Flamebearer", ".flamebearer.json", kJson, looks_like_flamebearer,
           read_flamebearer, [](const ProfileBatch& batch) { return write_flamebearer(batch); },
           Holds::kOneType},
    Format{"jfr", "JFR", "", "", looks_like_jfr, read_jfr, nullptr, Holds::kEverything},
    Format{"perf-script", "perf script", "", "", looks_like_perfscript, read_perfscript, nullptr,
           Holds::kEverything},
};

struct Picture {
  PictureFormat format;
  std::string_view name;
  std::string_view title;
  std::string_view ending;
  std::string_view content_type;
};
constexpr std::array kPictures = {
    Picture{PictureFormat::kSvg, "svg", "SVG", ".svg", "image/svg+xml"},
    Picture{PictureFormat::kHtml, "html", "HTML, one file", ".html", "text/html; charset=utf-8"},
};

// Endings that people use for the same thing.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOtherEndings = {{
    {".pb", "pprof"},
    {".pprof", "pprof"},
    {".prof", "pprof"},
    {".collapsed", "folded"},
    {".txt", "folded"},
    {".json", "speedscope"},
}};

const Format* format_named(std::string_view name) {
  const auto it = std::ranges::find_if(kFormats, [&](const Format& f) { return f.name == name; });
  return it == kFormats.end() ? nullptr : &*it;
}

// The format for a path, and what is to compress it.
struct Target {
  const Format* format = nullptr;
  Compression compression = Compression::kNone;
};

Target target_of(std::string_view path) {
  Target target;
  if (path.ends_with(".gz")) {
    target.compression = Compression::kGzip;
    path.remove_suffix(3);
  } else if (path.ends_with(".zst")) {
    target.compression = Compression::kZstd;
    path.remove_suffix(4);
  }
  // The longest ending wins: ".otlp.json" is no speedscope file.
  size_t longest = 0;
  const auto consider = [&](std::string_view ending, const Format* format) {
    if (ending.ends_with(".gz")) ending.remove_suffix(3);
    if (ending.size() > longest && path.ends_with(ending)) {
      longest = ending.size();
      target.format = format;
    }
  };
  for (const Format& format : kFormats) {
    if (!format.ending.empty()) consider(format.ending, &format);
  }
  for (const auto& [ending, name] : kOtherEndings) consider(ending, format_named(name));
  return target;
}

std::string shown_start(std::string_view bytes) {
  std::string out;
  for (const char c : bytes.substr(0, 12)) {
    out += c >= 0x20 && c < 0x7F ? std::string(1, c)
                                 : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

Error unknown_format(std::string_view bytes) {
  if (const KnownFile* known = find_known_file(bytes)) {
    return {ErrorCode::kInvalidInput,
            fmt::format("this is {}, which Vesta does not read", known->name),
            std::string(known->hint)};
  }
  return {ErrorCode::kInvalidInput,
          fmt::format("unknown profile format (it starts with '{}')", shown_start(bytes)),
          fmt::format("Vesta reads {}; --input-format NAME skips the detection",
                      fmt::join(readable_format_names(), ", "))};
}

}  // namespace

std::string_view recognise_format(std::string_view bytes) {
  if (bytes.empty()) return {};
  const auto it =
      std::ranges::find_if(kFormats, [&](const Format& f) { return f.recognise(bytes); });
  return it == kFormats.end() ? std::string_view() : it->name;
}

Result<ProfileBatch> read_profile(std::string_view bytes, std::string_view format_name,
                                  const ReadOptions& options) {
  MemoryCharge charge;
  std::string decoded;
  // A file may be packed twice (a .gz of a pprof that is gzip itself); more than that is no
  // accident.
  for (int layer = 0; layer < 2; ++layer) {
    if (detect_compression(bytes) == Compression::kNone) break;
    MemoryCharge layer_charge;
    VESTA_ASSIGN(std::string unpacked, decompress(bytes, options.max_decoded_bytes, layer_charge));
    charge = std::move(layer_charge);
    decoded = std::move(unpacked);
    bytes = decoded;
  }
  if (bytes.empty()) {
    return Error{ErrorCode::kInvalidInput, "the file is empty",
                 "the tool that wrote it was probably stopped before it had data"};
  }
  const bool is_guess = format_name.empty();
  if (is_guess) format_name = recognise_format(bytes);
  const Format* format = format_named(format_name);
  if (format != nullptr) return format->read(bytes, options);
  if (is_guess) return unknown_format(bytes);
  return Error{ErrorCode::kUsage, fmt::format("unknown format '{}'", format_name), ""};
}

namespace {

// The part of the batch that the format holds and the user wants.
Result<ProfileBatch> fitted(const ProfileBatch& batch, const Format& format,
                            const std::string& type) {
  ProfileBatch part;
  if (format.holds == Holds::kOneType || !type.empty()) {
    VESTA_ASSIGN(const TypeInfo wanted, find_type(list_types(batch), type));
    part = only_type(batch, wanted);
  } else {
    part = batch;
  }
  if (format.holds == Holds::kEverything) return part;
  return flattened(std::move(part));
}

}  // namespace

Result<std::string> encode_for_path(const ProfileBatch& batch, std::string_view path,
                                    const EncodeOptions& options) {
  Target target = target_of(path);
  if (!options.format.empty()) target.format = format_named(options.format);
  // pprof files are gzip by custom, and standard output has no ending to say so.
  if (target.format != nullptr && target.format->name == "pprof" && path == "-")
    target.compression = Compression::kGzip;
  if (target.format == nullptr || target.format->write == nullptr) {
    return Error{ErrorCode::kUsage, fmt::format("cannot tell the output format from '{}'", path),
                 fmt::format("use one of {}, or --format FORMAT", writable_endings())};
  }
  VESTA_ASSIGN(const ProfileBatch fitting, fitted(batch, *target.format, options.type));
  const std::string bytes = target.format->write(fitting);
  if (target.compression == Compression::kGzip) return gzip(bytes);
  if (target.compression == Compression::kZstd) return zstd(bytes);
  return bytes;
}

const PictureFormat* picture_format_for_path(std::string_view path) {
  if (path.ends_with(".htm")) return &kPictures[1].format;
  const auto* const at = std::ranges::find_if(
      kPictures, [&](const Picture& picture) { return path.ends_with(picture.ending); });
  return at == kPictures.end() ? nullptr : &at->format;
}

const PictureFormat* picture_format_named(std::string_view name) {
  const auto* const at = std::ranges::find(kPictures, name, &Picture::name);
  return at == kPictures.end() ? nullptr : &at->format;
}

std::string draw_flamegraph(const ReportHeader& header, const FlameTree& tree, PictureFormat format,
                            const PictureOptions& options) {
  FlamegraphOptions flamegraph;
  flamegraph.title = options.title;
  flamegraph.inverted = options.inverted;
  return format == PictureFormat::kSvg ? write_flamegraph_svg(header, tree, flamegraph)
                                       : write_flamegraph_html(header, tree, flamegraph);
}

std::string draw_flamegraph(const FrameProfile& profile, PictureFormat format,
                            const PictureOptions& options) {
  return draw_flamegraph(header_of(profile), build_flame_tree(profile, TreeDirection::kTopDown),
                         format, options);
}

std::vector<FormatInfo> list_formats() {
  std::vector<FormatInfo> formats;
  for (const Format& format : kFormats) {
    formats.push_back({.name = format.name,
                       .title = format.title,
                       .ending = format.ending,
                       .content_type = format.content_type,
                       .is_read = format.read != nullptr,
                       .is_written = format.write != nullptr});
  }
  for (const Picture& picture : kPictures) {
    formats.push_back({.name = picture.name,
                       .title = picture.title,
                       .ending = picture.ending,
                       .content_type = picture.content_type,
                       .is_written = true,
                       .is_picture = true});
  }
  return formats;
}

std::vector<std::string> readable_format_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kFormats));
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> writable_format_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kFormats));
  for (const Format& format : kFormats) {
    if (format.write != nullptr) names.emplace_back(format.name);
  }
  return names;
}

std::string writable_endings() {
  std::string out;
  for (const FormatInfo& format : list_formats()) {
    if (format.is_written) out += (out.empty() ? "" : ", ") + std::string(format.ending);
  }
  return out;
}

namespace {

// "folded stacks", but "JFR".
std::string in_sentence(std::string_view title) {
  std::string text(title);
  const auto is_capital = [&](size_t i) { return text[i] >= 'A' && text[i] <= 'Z'; };
  if (is_capital(0) && !is_capital(1)) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

}  // namespace

std::string formats_typescript() {
  std::string rows;
  std::string readable;
  for (const FormatInfo& format : list_formats()) {
    if (format.is_read) readable += (readable.empty() ? "" : ", ") + in_sentence(format.title);
    if (!format.is_written) continue;
    rows += fmt::format("  {{ format: '{}', title: '{}', extension: '{}', picture: {} }},\n",
                        format.name, format.title, format.ending.substr(1), format.is_picture);
  }
  return fmt::format(
      "// Generated from src/formats/registry.cc; VESTA_UPDATE=1 scripts/test -R '^formats$' "
      "writes it.\n"
      "export interface WrittenFormat {{\n"
      "  format: string; // as /api/v1/export knows it\n"
      "  title: string;\n"
      "  extension: string;\n"
      "  picture: boolean;\n"
      "}}\n\n"
      "export const writtenFormats: readonly WrittenFormat[] = [\n{}];\n\n"
      "export const readFormats = '{}';\n",
      rows, readable);
}

}  // namespace vesta
