// One JFR file: whether it is finished, what it holds, whose it is. Plain functions on an open
// file; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/jfr/shipped_files.h"
#include "base/file.h"
#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta::agent {

// Who may still write a file.
enum class Writers : uint8_t {
  kNone,     // nobody on this machine has it open for writing
  kSome,     // somebody has
  kUnknown,  // the kernel does not tell us
};
Writers writers_of(int fd);

// Of a regular file; kUnsupported for anything else.
Result<FileStamp> stamp_of(int fd);

// The bytes of a recording, decompressed when they were compressed.
class RecordingBytes {
 public:
  static Result<RecordingBytes> read(int fd, const ReadOptions& limits);
  std::string_view bytes() const {
    return is_unpacked_ ? std::string_view(unpacked_) : file_.bytes();
  }
  const Hash128& content() const { return content_; }  // of the file as it is

 private:
  explicit RecordingBytes(InputFile file) : file_(std::move(file)) {}
  InputFile file_;
  std::string unpacked_;
  bool is_unpacked_ = false;
  Hash128 content_;
};

// Every chunk is there to its last byte, and none is marked as being written.
bool is_whole_recording(std::string_view bytes);

// What the path says when the recording says nothing: "checkout" of "checkout-2026-01-16_1808.jfr";
// the folder's name when the file's is no name but numbers and words such as "recording". Empty
// when there is none. The path is the one below the folder that is watched.
std::string service_of_path(std::string_view path);

struct RecordingOwner {
  std::string service_name;  // configured; wins over all that follows
  std::string host_name;
};
// Completes the resource of every profile: service.name (configured, else from the JVM's
// properties, else its main class or jar, else from the path), host.name, profile.source.
void name_owner(ProfileBatch& batch, const RecordingOwner& owner, std::string_view path);

// Recorders know their start to the millisecond or so, but servers know a profile that comes again
// by its nanosecond: times without digits below the millisecond get those of the file's content.
void time_exactly(ProfileBatch& batch, const Hash128& content);

}  // namespace vesta::agent
