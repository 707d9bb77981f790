// A profile in a file of any format, with what its format asks of ingest: names of types, labels
// that stay with samples. Pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta {

struct FileContent {
  ProfileBatch batch;
  std::string format;                           // as formats/registry.h names it
  std::vector<std::string_view> sample_labels;  // see IngestHints
};

// `format` empty = found out from the bytes, which may be packed. kInvalidInput when it is none
// that we know, or the content is damaged.
Result<FileContent> read_file(std::string_view bytes, std::string_view format,
                              const ReadOptions& options);

}  // namespace vesta
