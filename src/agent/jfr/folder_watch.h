// Tells which files with certain endings appear, are closed by their writers, or go, in some
// folders and below. Folders may come and go themselves. Sleeps in the kernel (inotify); only where
// that sees nothing, as on network file systems, does somebody have to look. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

struct FolderWatchOptions {
  std::vector<std::string> folders;
  bool recursive = true;
  std::vector<std::string> endings;  // ".jfr"
  size_t max_folders = 10'000;       // watched, all together
};

struct FolderEvent {
  enum class Kind : uint8_t {
    kSeen,    // it is there; who writes it is not known
    kClosed,  // a writer closed it, or it was moved here whole
    kGone,    // it, or a folder of that name with all that it held
    kMissed,  // events were lost: scan() again
  };
  Kind kind = Kind::kSeen;
  size_t folder = 0;  // index into the options
  std::string path;   // below that folder
};

class FolderWatch {
 public:
  using Use = std::function<void(const FolderEvent&)>;

  static Result<std::unique_ptr<FolderWatch>> open(const FolderWatchOptions& options);

  // Becomes readable when there are events.
  int fd() const { return inotify_.get(); }
  // All events there are.
  void read(const Use& use);
  // Watches everything anew and names every file that is there.
  void scan(const Use& use);

  const std::vector<std::string>& folders() const { return options_.folders; }  // tidied
  bool is_there(size_t folder) const { return is_there_[folder]; }
  // Changes may go unseen: scan() has to be called now and then.
  bool is_blind() const { return on_network_ || watches_missing_ > 0; }
  // Others may write there without this kernel hearing of it.
  bool on_network() const { return on_network_; }
  size_t watches() const { return places_.size(); }
  uint64_t watches_missing() const { return watches_missing_; }
  uint64_t overflows() const { return overflows_; }

  // A file or folder below a folder of the options, never through a symbolic link. An empty path is
  // the folder itself.
  Result<UniqueFd> open_below(size_t folder, const std::string& path, int flags) const;

 private:
  struct Place {
    size_t folder = 0;
    std::string path;
    bool is_ancestor = false;  // of a folder that is not there
  };

  FolderWatch() = default;
  void scan_folder(size_t folder, const Use& use);
  void scan_below(size_t folder, const std::string& path, const Use& use, int depth);
  void watch_ancestor(size_t folder);
  void drop_ancestors();
  bool add_watch(int folder_fd, uint32_t mask, Place place);
  void drop_watches(size_t folder, const std::string& path);
  bool is_wanted(std::string_view name) const;
  void handle(uint32_t mask, const Place& place, const std::string& name, const Use& use);

  FolderWatchOptions options_;
  UniqueFd inotify_;
  std::map<int, Place> places_;
  std::vector<bool> is_there_;
  bool on_network_ = false;
  uint64_t watches_missing_ = 0;
  uint64_t overflows_ = 0;
};

}  // namespace vesta::agent
