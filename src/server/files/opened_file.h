// A profile file that a person opened, as a store of its own in memory, so that every question that
// the real store answers can be asked of it. Immutable once made; any thread may ask its engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/limits.h"
#include "store/engine.h"

namespace vesta::server {

struct FileType {
  ProfileType type;
  std::string word;  // the shortest that means it in a selector
  int64_t total = 0;
  uint64_t samples = 0;  // different ones: stack, labels, time
};

struct OpenedFile {
  std::string id;  // a hash of name and content: who opens the file again finds it there again
  std::string name;
  std::string format;
  TimeRange range;                  // holds all profiles and all samples
  std::vector<FileType> types;      // the one to show first, then in order of their ids
  std::vector<std::string> labels;  // names, of series and of samples
  uint64_t bytes = 0;               // that it takes in memory, about
  std::unique_ptr<Engine> engine;   // holds the file under the tenant that opened it
};

struct FileSource {
  std::string_view tenant;
  std::string_view name;
  std::string_view bytes;
  const TenantLimits& limits;
  uint64_t max_memory = 0;  // kLimit beyond
  int64_t now_ns = 0;       // where the file does not say when it was taken
  // Asked from time to time, also once the file is open; true ends the work with kUnavailable.
  std::function<bool()> stop = {};
};

std::string file_id(std::string_view name, std::string_view bytes);

// kInvalidInput when it is no profile, or an empty one; kLimit when it is too large.
Result<std::shared_ptr<const OpenedFile>> open_file(const FileSource& source);

}  // namespace vesta::server
