#include "agent/export/senders/file_sender.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <filesystem>
#include <string>

#include "agent/export/codecs/payload_codecs.h"
#include "base/file.h"
#include "base/private_file.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kSuffix = ".pb.gz";
constexpr std::string_view kTemporarySuffix = ".pb.gz.tmp";
constexpr int kMaxTwins = 1000;

struct KnownFile {
  std::string name;
  uint64_t bytes = 0;
};

class FileSender final : public Sender {
 public:
  explicit FileSender(const ExporterConfig& config)
      : folder_(config.directory),
        max_files_(std::max<uint64_t>(config.max_files, 1)),
        max_bytes_(config.max_bytes) {}

  Status load() {
    namespace fs = std::filesystem;
    std::error_code error;
    make_folder();
    for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      std::error_code gone;
      if (name.ends_with(kTemporarySuffix) && is_ours(name.substr(0, name.size() - 4))) {
        fs::remove(at->path(), gone);  // of a run that was killed; the queue has it still
      } else if (is_ours(name) && at->is_regular_file(gone)) {
        const uint64_t bytes = at->file_size(gone);
        files_.push_back({name, gone ? 0 : bytes});
        bytes_ += files_.back().bytes;
      }
    }
    if (error) {
      return Error{ErrorCode::kIo,
                   fmt::format("cannot use the folder {}: {}", folder_, error.message()),
                   "check the path and its permissions"};
    }
    std::ranges::sort(files_, {}, [](const KnownFile& file) {
      return std::pair(std::string(time_in_file_name(file.name)), file.name);
    });
    return {};
  }

  SendOutcome send(const Payload& payload) override {
    const auto profile = decode_single(payload.bytes);
    if (!profile) return SendOutcome::rejected(profile.error().message);
    if (profile->name.find('/') != std::string::npos)
      return SendOutcome::rejected("the payload in the queue has no file name");
    const uint64_t size = profile->pprof.size();
    if (size > max_bytes_) return SendOutcome::rejected("larger than all files together may be");
    std::string name = profile->name;
    const std::string stem = name.substr(0, name.size() - std::min(kSuffix.size(), name.size()));
    for (int twin = 2; exists(name); ++twin) {
      // Written before the process was killed, and not yet noted.
      if (is_same(name, profile->pprof)) return SendOutcome::sent();
      if (twin > kMaxTwins) return SendOutcome::rejected("too many profiles of one name");
      name = fmt::format("{}-{}{}", stem, twin, kSuffix);
    }
    rotate(size);
    if (const Status written = write(name, profile->pprof); !written)
      return SendOutcome::retry(written.error().message);
    files_.push_back({name, size});
    bytes_ += size;
    return SendOutcome::sent();
  }
  void cancel() override {}

 private:
  static bool is_ours(std::string_view name) { return !time_in_file_name(name).empty(); }

  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }

  bool exists(const std::string& name) const {
    struct stat info {};
    return ::lstat(path_of(name).c_str(), &info) == 0;
  }

  bool is_same(const std::string& name, std::string_view bytes) const {
    struct stat info {};
    if (::lstat(path_of(name).c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    const auto file = InputFile::open(path_of(name), bytes.size());
    return file && file->bytes() == bytes;
  }

  void rotate(uint64_t more) {
    while (!files_.empty() && (files_.size() >= max_files_ || bytes_ + more > max_bytes_)) {
      ::unlink(path_of(files_.front().name).c_str());
      bytes_ -= files_.front().bytes;
      files_.pop_front();
    }
  }

  // One that is there keeps its mode: somebody chose it.
  void make_folder() const {
    std::error_code ignored;
    if (std::filesystem::create_directories(folder_, ignored))
      std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
  }

  // Whoever looks into the folder sees whole files only; what others planted there is not followed.
  Status write(const std::string& name, std::string_view bytes) const {
    make_folder();  // somebody may have tidied up
    return replace_private_file(path_of(name), bytes);
  }

  const std::string folder_;
  const uint64_t max_files_;
  const uint64_t max_bytes_;
  std::deque<KnownFile> files_;  // oldest first
  uint64_t bytes_ = 0;
};

}  // namespace

std::string_view time_in_file_name(std::string_view name) {
  if (!name.ends_with(kSuffix)) return {};
  // service_pid_TIME_family: a service may have underscores, a time has none.
  constexpr size_t kTimeBytes = std::string_view("20261115T131405.123Z").size();
  for (size_t at = name.find('_'); at != std::string_view::npos; at = name.find('_', at + 1)) {
    const std::string_view time = name.substr(at + 1, kTimeBytes);
    const size_t after = at + 1 + kTimeBytes;
    if (time.size() < kTimeBytes || after >= name.size() || name[after] != '_') continue;
    bool is_time = time[8] == 'T' && time[15] == '.' && time[19] == 'Z';
    for (size_t i = 0; i < kTimeBytes && is_time; ++i) {
      if (i == 8 || i == 15 || i == 19) continue;
      is_time = std::isdigit(static_cast<unsigned char>(time[i])) != 0;
    }
    if (is_time) return time;
  }
  return {};
}

Result<std::unique_ptr<Sender>> make_file_sender(const ExporterConfig& config) {
  auto sender = std::make_unique<FileSender>(config);
  VESTA_TRY(sender->load());
  return std::unique_ptr<Sender>(std::move(sender));
}

}  // namespace vesta::agent
