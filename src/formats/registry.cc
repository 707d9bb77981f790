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
#include "formats/otlp/reader.h"
#include "formats/otlp/writer.h"
#include "formats/perfscript/reader.h"
#include "formats/pprof/reader.h"
#include "formats/pprof/writer.h"
#include "formats/speedscope/reader.h"
#include "formats/speedscope/writer.h"
#include "profile/call_tree.h"
#include "profile/merge.h"
#include "profile/merged_profile.h"

namespace vesta {
namespace {

using Recognise = bool (*)(std::string_view);
using Read = Result<ProfileBatch> (*)(std::string_view, const ReadOptions&);
using Write = Result<std::string> (*)(const ProfileBatch&, const EncodeOptions&);

struct Format {
  std::string_view name;
  std::string_view ending;  // empty for formats that are only read
  Recognise recognise;
  Read read;
  Write write;
};

// Where a type is within a batch.
struct TypePlace {
  size_t profile = 0;
  size_t type = 0;
};

Result<TypePlace> place_of(const ProfileBatch& batch, const std::string& word) {
  VESTA_ASSIGN(const TypeInfo wanted, find_type(list_types(batch), word));
  for (size_t i = 0; i < batch.profiles.size(); ++i) {
    const Profile& p = batch.profiles[i];
    for (size_t type = 0; type < p.sample_types.size(); ++type) {
      if (batch.dictionary.string(p.sample_types[type].type) == wanted.type &&
          batch.dictionary.string(p.sample_types[type].unit) == wanted.unit &&
          batch.dictionary.string(p.name) == wanted.name) {
        return TypePlace{i, type};
      }
    }
  }
  return Error{ErrorCode::kNoData, "the profile has no sample types", ""};
}

// One profile of all, within 2 GiB of values: a file with very many profiles of different types
// would grow with their square.
Result<ProfileBatch> flattened(ProfileBatch batch) {
  constexpr uint64_t kMaxValues = 256u << 20;
  if (flattened_value_count(batch) > kMaxValues) {
    return Error{ErrorCode::kLimit,
                 "the profiles are too many and too different to be put into one",
                 "convert to .otlp, which keeps them apart"};
  }
  return flatten(std::move(batch));
}

// Formats that hold one type get all profiles of the batch that have it, added up.
Result<std::string> write_one_type(const ProfileBatch& batch, const EncodeOptions& options,
                                   std::string (*write)(const ProfileBatch&, size_t type)) {
  if (batch.profiles.size() == 1) {
    VESTA_ASSIGN(const TypePlace place, place_of(batch, options.type));
    return write(batch, place.type);
  }
  VESTA_ASSIGN(const TypeInfo wanted, find_type(list_types(batch), options.type));
  ProfileBatch same_name = batch;
  std::erase_if(same_name.profiles, [&](const Profile& p) {
    return same_name.dictionary.string(p.name) != wanted.name;
  });
  VESTA_ASSIGN(const ProfileBatch flat, flattened(std::move(same_name)));
  VESTA_ASSIGN(const TypePlace place, place_of(flat, wanted.type + ":" + wanted.unit));
  return write(flat, place.type);
}

const std::array kFormats = {
    Format{"pprof", ".pb.gz", looks_like_pprof, read_pprof,
           [](const ProfileBatch& b, const EncodeOptions&) -> Result<std::string> {
             if (b.profiles.size() == 1 && !b.profiles[0].resource) return write_pprof(b);
             VESTA_ASSIGN(const ProfileBatch flat, flattened(b));
             return write_pprof(flat);
           }},
    Format{"folded", ".folded", looks_like_folded, read_folded,
           [](const ProfileBatch& b, const EncodeOptions& o) {
             return write_one_type(b, o, [](const ProfileBatch& batch, size_t type) {
               return write_folded(batch, type);
             });
           }},
    Format{"speedscope", ".speedscope.json", looks_like_speedscope, read_speedscope,
           [](const ProfileBatch& b, const EncodeOptions&) -> Result<std::string> {
             return write_speedscope(b);
           }},
    Format{"otlp", ".otlp", looks_like_otlp, read_otlp,
           [](const ProfileBatch& b, const EncodeOptions&) -> Result<std::string> {
             return write_otlp(b);
           }},
    Format{"otlp-json", ".otlp.json", looks_like_otlp_json, read_otlp_json,
           [](const ProfileBatch& b, const EncodeOptions&) -> Result<std::string> {
             return write_otlp_json(b);
           }},
    Format{"flamebearer", ".flamebearer.json", looks_like_flamebearer, read_flamebearer,
           [](const ProfileBatch& b, const EncodeOptions& o) {
             return write_one_type(b, o, [](const ProfileBatch& batch, size_t type) {
               FlamebearerOptions flamebearer;
               flamebearer.type = type;
               return write_flamebearer(batch, flamebearer);
             });
           }},
    Format{"jfr", "", looks_like_jfr, read_jfr, nullptr},
    Format{"perf-script", "", looks_like_perfscript, read_perfscript, nullptr},
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
  return {ErrorCode::kInvalidInput,
          fmt::format("not a profile in a format that Vesta knows (it starts with '{}')",
                      shown_start(bytes)),
          fmt::format("known are: {}; --input-format NAME skips the guess",
                      fmt::join(readable_format_names(), ", "))};
}

}  // namespace

Result<ProfileBatch> read_profile(std::string_view bytes, std::string_view format_name,
                                  const ReadOptions& options) {
  std::string decoded;
  // A file may be packed twice (a .gz of a pprof that is gzip itself); more than that is no
  // accident.
  for (int layer = 0; layer < 2; ++layer) {
    const Compression compression = detect_compression(bytes);
    if (compression == Compression::kNone) break;
    VESTA_ASSIGN(std::string unpacked, compression == Compression::kGzip
                                           ? gunzip(bytes, options.max_decoded_bytes)
                                           : unzstd(bytes, options.max_decoded_bytes));
    decoded = std::move(unpacked);
    bytes = decoded;
  }
  if (bytes.empty()) {
    return Error{ErrorCode::kInvalidInput, "the file is empty",
                 "the tool that wrote it was stopped before it had data?"};
  }
  if (!format_name.empty()) {
    const Format* format = format_named(format_name);
    if (format == nullptr)
      return Error{ErrorCode::kUsage, fmt::format("no format '{}'", format_name), ""};
    return format->read(bytes, options);
  }
  for (const Format& format : kFormats) {
    if (format.recognise(bytes)) return format.read(bytes, options);
  }
  return unknown_format(bytes);
}

Result<std::string> encode_for_path(const ProfileBatch& batch, std::string_view path,
                                    const EncodeOptions& options) {
  Target target = target_of(path);
  if (!options.format.empty()) target.format = format_named(options.format);
  // pprof files are gzip by custom, and standard output has no ending to say so.
  if (target.format != nullptr && target.format->name == "pprof" && path == "-")
    target.compression = Compression::kGzip;
  if (target.format == nullptr || target.format->write == nullptr) {
    return Error{ErrorCode::kUsage,
                 fmt::format("the ending of '{}' stands for no format that Vesta writes", path),
                 fmt::format("use one of {}, or --to FORMAT", writable_endings())};
  }
  VESTA_ASSIGN(std::string bytes, target.format->write(batch, options));
  if (target.compression == Compression::kGzip) return gzip(bytes);
  if (target.compression == Compression::kZstd) return zstd(bytes);
  return bytes;
}

const PictureFormat* picture_format_for_path(std::string_view path) {
  static constexpr PictureFormat kSvg = PictureFormat::kSvg;
  static constexpr PictureFormat kHtml = PictureFormat::kHtml;
  if (path.ends_with(".svg")) return &kSvg;
  return path.ends_with(".html") || path.ends_with(".htm") ? &kHtml : nullptr;
}

std::string draw_flamegraph(const FrameProfile& profile, PictureFormat format,
                            const PictureOptions& options) {
  const CallTree tree = build_call_tree(
      profile, options.inverted ? TreeDirection::kBottomUp : TreeDirection::kTopDown,
      ChildOrder::kByName);
  FlamegraphOptions flamegraph;
  flamegraph.title = options.title;
  flamegraph.inverted = options.inverted;
  return format == PictureFormat::kSvg ? write_flamegraph_svg(profile, tree, flamegraph)
                                       : write_flamegraph_html(profile, tree, flamegraph);
}

std::vector<std::string> readable_format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> writable_format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    if (format.write != nullptr) names.emplace_back(format.name);
  }
  return names;
}

std::string writable_endings() {
  std::string out;
  for (const Format& format : kFormats) {
    if (format.write != nullptr) out += std::string(format.ending) + ", ";
  }
  return out + ".svg, .html";
}

}  // namespace vesta
