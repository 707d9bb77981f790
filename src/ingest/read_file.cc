#include "ingest/read_file.h"

#include <fmt/format.h>

#include "formats/known_files.h"
#include "formats/registry.h"
#include "ingest/otlp_types.h"
#include "ingest/pyroscope/jfr_labels.h"
#include "ingest/unpack.h"

namespace vesta {

Result<FileContent> read_file(std::string_view bytes, std::string_view format,
                              const ReadOptions& options) {
  // Twice, as read_profile() has it: a .gz of a pprof that is gzip itself.
  VESTA_ASSIGN(const Unpacked once, Unpacked::make(bytes, options.max_decoded_bytes));
  VESTA_ASSIGN(const Unpacked twice, Unpacked::make(once.bytes(), options.max_decoded_bytes));
  FileContent content;
  content.format = format.empty() ? recognise_format(twice.bytes()) : format;
  auto batch = read_profile(twice.bytes(), content.format, options);
  if (!batch) {
    Error error = std::move(batch).error();
    // No flag chooses a format here. Files of other tools come with a hint of their own.
    if (content.format.empty() && !twice.bytes().empty() &&
        find_known_file(twice.bytes()) == nullptr)
      error.hint = fmt::format("use one of: {}", fmt::join(readable_format_names(), ", "));
    return error;
  }
  content.batch = std::move(*batch);
  if (content.format == "otlp" || content.format == "otlp-json") name_otlp_types(content.batch);
  if (content.format == "jfr") {
    pyroscope::drop_sample_counts(content.batch);
    content.sample_labels = {"class", "state", "event"};
  }
  return content;
}

}  // namespace vesta
