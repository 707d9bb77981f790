#include "agent/jfr/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "base/time.h"
#include "formats/common/compression.h"
#include "formats/jfr/chunk.h"
#include "profile/dictionary_builder.h"

namespace vesta::agent {
namespace {

// Words that recorders put into file names, and that name no service.
bool says_nothing(std::string_view word) {
  constexpr std::array<std::string_view, 16> kWords = {
      "hotspot",  "pid",  "id",     "recording", "flight",  "jfr",         "dump",  "profile",
      "profiler", "java", "output", "record",    "default", "myrecording", "async", "rec"};
  if (word.empty() || std::ranges::find(kWords, word) != kWords.end()) return true;
  return std::ranges::all_of(word, [](char c) { return is_digit(c) || c == 'T' || c == 'Z'; });
}

// The words of a name that say something, up to the first number behind one of them.
std::string telling_part(std::string_view name) {
  std::string out;
  size_t at = 0;
  while (at < name.size()) {
    const size_t end = std::min(name.find_first_of("-_. ", at), name.size());
    const std::string_view word = name.substr(at, end - at);
    const bool empty = says_nothing(word);
    if (empty && !out.empty()) break;
    if (!empty) {
      if (!out.empty()) out += name[at - 1];
      out += word;
    }
    at = end + 1;
  }
  return out;
}

std::string_view without_ending(std::string_view name) {
  for (const std::string_view ending : {".gz", ".jfr"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  return name;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

Writers writers_of(int fd) {
  // The kernel grants a read lease only on a file that nobody has open for writing. It is given
  // back at once; should a writer come in between, the signal is one that is ignored unless asked
  // for.
  (void)::fcntl(fd, F_SETSIG, SIGURG);
  if (::fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
    (void)::fcntl(fd, F_SETLEASE, F_UNLCK);
    return Writers::kNone;
  }
  return errno == EAGAIN ? Writers::kSome : Writers::kUnknown;
}

Result<FileStamp> stamp_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0)
    return Error{ErrorCode::kIo, fmt::format("cannot stat it: {}", std::strerror(errno)), ""};
  if (!S_ISREG(info.st_mode)) return Error{ErrorCode::kUnsupported, "not a regular file", ""};
  return FileStamp{static_cast<uint64_t>(info.st_size),
                   int64_t{info.st_mtim.tv_sec} * kSecond + info.st_mtim.tv_nsec};
}

Result<RecordingBytes> RecordingBytes::read(int fd, const ReadOptions& limits) {
  VESTA_ASSIGN(InputFile file, InputFile::from_fd(fd, limits.max_input_bytes));
  RecordingBytes recording(std::move(file));
  recording.content_ = hash128(recording.file_.bytes());
  switch (detect_compression(recording.file_.bytes())) {
    case Compression::kNone:
      return recording;
    case Compression::kGzip: {
      VESTA_ASSIGN(recording.unpacked_, gunzip(recording.file_.bytes(), limits.max_decoded_bytes));
      break;
    }
    case Compression::kZstd: {
      VESTA_ASSIGN(recording.unpacked_, unzstd(recording.file_.bytes(), limits.max_decoded_bytes));
      break;
    }
  }
  recording.is_unpacked_ = true;
  return recording;
}

bool is_whole_recording(std::string_view bytes) {
  if (bytes.empty()) return false;
  for (size_t offset = 0; offset < bytes.size();) {
    const auto chunk = jfr::read_chunk_header(bytes, offset);
    if (!chunk.ok() || chunk->unfinished || chunk->bytes.empty()) return false;
    offset += chunk->bytes.size();
  }
  return true;
}

std::string service_of_path(std::string_view path) {
  const std::string_view file = last_part(path);
  std::string name = telling_part(without_ending(file));
  if (!name.empty()) return name;
  // Outwards, the first folder that has a name.
  while (path.find('/') != std::string_view::npos) {
    path = path.substr(0, path.rfind('/'));
    name = telling_part(last_part(path));
    if (!name.empty()) return name;
  }
  return {};
}

void time_exactly(ProfileBatch& batch, const Hash128& content) {
  const auto digits = static_cast<int64_t>(content.low % (kMillisecond - 1)) + 1;
  for (Profile& profile : batch.profiles) {
    if (profile.time_ns % kMillisecond == 0)
      profile.time_ns = saturating_add(profile.time_ns, digits);
  }
}

void name_owner(ProfileBatch& batch, const RecordingOwner& owner, std::string_view path) {
  DictionaryBuilder builder(batch.dictionary);
  const StringId service_key = builder.string("service.name");
  const StringId main_class_key = builder.string("jvm.main_class");
  const StringId host_key = builder.string("host.name");
  for (Profile& profile : batch.profiles) {
    const auto old = batch.dictionary.label_sets[profile.resource];
    std::vector<Label> labels(old.begin(), old.end());
    const auto find = [&](StringId key) {
      const auto found = std::ranges::find(labels, key, &Label::key);
      return found == labels.end() ? std::string()
                                   : std::string(batch.dictionary.string(found->text));
    };
    std::string service = owner.service_name;
    if (service.empty()) service = find(service_key);
    if (service.empty()) service = find(main_class_key);
    if (service.ends_with(".jar")) service.resize(service.size() - 4);
    if (service.empty()) service = service_of_path(path);
    if (service.empty()) service = "unknown_service:java";
    const bool has_host = !find(host_key).empty();
    std::erase_if(labels, [&](const Label& label) { return label.key == service_key; });
    labels.push_back(builder.text_label("service.name", service));
    if (!has_host && !owner.host_name.empty())
      labels.push_back(builder.text_label("host.name", owner.host_name));
    // Exporters that tell kinds of profilers apart look at this.
    labels.push_back(builder.text_label("profile.source", "jfr"));
    profile.resource = builder.label_set(labels);
  }
}

}  // namespace vesta::agent
