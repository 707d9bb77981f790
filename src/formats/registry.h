// The formats by name: which one some bytes are in, how to read them, which one a file name asks
// for, how to write it. One line per format in registry.cc. Plain functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/flame_tree.h"
#include "profile/profile.h"
#include "profile/report_header.h"

namespace vesta {

// Decompresses (gzip, zstd) and reads. The format is recognised by content, never by name, unless
// `format_name` says it.
Result<ProfileBatch> read_profile(std::string_view bytes, std::string_view format_name,
                                  const ReadOptions& options);

// The name of the format that the bytes, which are not packed, are in; empty when it is none.
std::string_view recognise_format(std::string_view bytes);

struct EncodeOptions {
  // Only this type; empty = all, or the default one where the format holds one only.
  std::string type;
  std::string format;  // wins over the ending of the path
};

// The batch in the format that the path's ending stands for; ".gz" and ".zst" compress. kUsage when
// no format has that ending.
Result<std::string> encode_for_path(const ProfileBatch& batch, std::string_view path,
                                    const EncodeOptions& options);

// Pictures are drawn from a tree rather than from a batch, because they show one type, filtered, or
// a difference.
enum class PictureFormat { kSvg, kHtml };
const PictureFormat* picture_format_for_path(std::string_view path);
const PictureFormat* picture_format_named(std::string_view name);

struct PictureOptions {
  std::string title;
  bool inverted = false;
};
std::string draw_flamegraph(const ReportHeader& header, const FlameTree& tree, PictureFormat format,
                            const PictureOptions& options);
std::string draw_flamegraph(const FrameProfile& profile, PictureFormat format,
                            const PictureOptions& options);

// What is said of a format where it is offered: a row of the table, pictures included.
struct FormatInfo {
  std::string_view name;
  std::string_view title;         // for people: "Folded stacks"
  std::string_view ending;        // of files that Vesta writes: ".folded"
  std::string_view content_type;  // of an answer that is such a file
  bool is_read = false;
  bool is_written = false;
  bool is_picture = false;
};
std::vector<FormatInfo> list_formats();

std::vector<std::string> readable_format_names();
std::vector<std::string> writable_format_names();  // without pictures
// ".pb.gz, .folded, …" for help texts.
std::string writable_endings();
// ui/src/text/formats.gen.ts, as it has to be.
std::string formats_typescript();

}  // namespace vesta
