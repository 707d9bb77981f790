#include "agent/jfr/jfr_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "agent/jfr/folder_watch.h"
#include "agent/jfr/shipped_files.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "formats/jfr/reader.h"

namespace vesta::agent {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Clock::time_point kNever = Clock::time_point::max();

// A file that is there and not dealt with yet.
struct Waiting {
  Clock::time_point due = kNever;  // never: until something happens to it
  FileStamp stamp;                 // when it was last looked at
  Clock::time_point unchanged_since;
  bool was_closed = false;  // by its writer, and not opened since
  unsigned failures = 0;
};

}  // namespace

struct JfrFolder::Parts {
  using Key = std::pair<size_t, std::string>;  // folder and path below it

  void run(const std::stop_token& stop);
  void scan();
  void take(const FolderEvent& event);
  void forget_missing();
  void examine_due();
  void examine(const Key& key, Waiting& file);
  bool is_finished(int fd, const FileStamp& stamp, Waiting& file, Writers& writers) const;
  void ship_file(const Key& key, Waiting& file, int fd, const FileStamp& stamp, Writers writers);
  void finish(const Key& key, const FileStamp& stamp, const Hash128& content, bool is_broken);
  void broken(const Key& key, const FileStamp& stamp, const Hash128& content, const Error& error);
  void note(const Status& status);
  void update_stats();
  std::string full_path(const Key& key) const {
    return options.input_dirs[key.first] + "/" + key.second;
  }

  JfrFolderOptions options;
  Ship ship;
  std::unique_ptr<FolderWatch> watch;
  std::optional<ShippedFiles> shipped;
  std::map<Key, Waiting> waiting;
  std::set<std::string> seen;  // during a scan
  bool is_scanning = false;
  bool must_scan = true;
  Clock::time_point next_look = kNever;
  UniqueFd stop_event;

  mutable Mutex mutex;
  JfrFolderStats stats GUARDED_BY(mutex);

  std::jthread thread;
};

void JfrFolder::Parts::scan() {
  must_scan = false;
  seen.clear();
  is_scanning = true;
  watch->scan([this](const FolderEvent& event) { take(event); });
  is_scanning = false;
  // Before notes go, the files that are there are looked at: one may be a missing one's new name.
  examine_due();
  forget_missing();
  seen.clear();
  next_look = watch->is_blind() ? Clock::now() + options.look_again : kNever;
}

// Of folders that are there: one that is away for a while may come back with all its files.
void JfrFolder::Parts::forget_missing() {
  for (const std::string& path : shipped->paths()) {
    if (seen.contains(path)) continue;
    for (size_t folder = 0; folder < options.input_dirs.size(); ++folder) {
      if (!watch->is_there(folder) || !path.starts_with(options.input_dirs[folder] + "/")) continue;
      note(shipped->forget(path));
      break;
    }
  }
}

void JfrFolder::Parts::take(const FolderEvent& event) {
  const Key key{event.folder, event.path};
  switch (event.kind) {
    case FolderEvent::Kind::kMissed:
      must_scan = true;
      return;
    case FolderEvent::Kind::kGone: {
      // Seen to when it is looked for, a moment later: it may only have got another name, and then
      // its content must still be known.
      const bool is_file = waiting.contains(key) || shipped->find(full_path(key)) != nullptr;
      if (is_file) {
        waiting[key].due = Clock::now() + options.settle;
      } else {
        next_look = std::min(next_look, Clock::now() + options.settle);  // a folder
      }
      return;
    }
    case FolderEvent::Kind::kSeen:
    case FolderEvent::Kind::kClosed:
      break;
  }
  if (is_scanning) seen.insert(full_path(key));
  const auto found = waiting.find(key);
  if (found == waiting.end() && waiting.size() >= options.max_waiting) {
    next_look = std::min(next_look, Clock::now() + options.look_again);
    return;
  }
  Waiting& file = found == waiting.end() ? waiting[key] : found->second;
  file.was_closed |= event.kind == FolderEvent::Kind::kClosed;
  if (file.failures == 0) file.due = Clock::now();
}

// Oldest first, as far as they are due together: profiles then arrive in the order of time.
void JfrFolder::Parts::examine_due() {
  std::vector<std::pair<int64_t, Key>> due;
  const Clock::time_point now = Clock::now();
  for (const auto& [key, file] : waiting) {
    if (file.due > now) continue;
    int64_t mtime_ns = 0;
    auto opened = watch->open_below(key.first, key.second, O_PATH | O_NOFOLLOW);
    if (opened.ok()) mtime_ns = stamp_of(opened->get()).value_or({}).mtime_ns;
    due.emplace_back(mtime_ns, key);
  }
  std::sort(due.begin(), due.end());
  for (const auto& [mtime_ns, key] : due) {
    if (thread.get_stop_token().stop_requested()) return;
    const auto found = waiting.find(key);
    found->second.due = kNever;
    examine(key, found->second);
  }
}

void JfrFolder::Parts::examine(const Key& key, Waiting& file) {
  // Not blocking: it may be a pipe by now.
  auto opened = watch->open_below(key.first, key.second, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!opened.ok()) {
    if (opened.error().code == ErrorCode::kNotFound && watch->is_there(key.first))
      note(shipped->forget(full_path(key)));
    waiting.erase(key);  // or a link, or not for us to read
    return;
  }
  const auto stamp = stamp_of(opened->get());
  const ShippedFile* known = stamp.ok() ? shipped->find(full_path(key)) : nullptr;
  if (!stamp.ok() || (known != nullptr && known->stamp == *stamp)) {
    waiting.erase(key);
    return;
  }
  if (file.unchanged_since == Clock::time_point() || file.stamp != *stamp) {
    file.stamp = *stamp;
    file.unchanged_since = Clock::now();
  }
  Writers writers = Writers::kUnknown;
  if (is_finished(opened->get(), *stamp, file, writers))
    ship_file(key, file, opened->get(), *stamp, writers);
}

// Sets when to look again when it is not.
bool JfrFolder::Parts::is_finished(int fd, const FileStamp& stamp, Waiting& file,
                                   Writers& writers) const {
  writers = watch->on_network() ? Writers::kUnknown : writers_of(fd);
  if (writers == Writers::kSome) {
    file.was_closed = false;
    return false;  // the kernel will tell when it is closed
  }
  if (stamp.size == 0) return false;  // nor is there anything in it
  if (file.was_closed || writers == Writers::kNone) return true;
  const auto unchanged = Clock::now() - file.unchanged_since;
  if (unchanged >= options.settle) return true;
  file.due = file.unchanged_since + options.settle;
  return false;
}

void JfrFolder::Parts::ship_file(const Key& key, Waiting& file, int fd, const FileStamp& stamp,
                                 Writers writers) {
  auto bytes = RecordingBytes::read(fd, options.limits);
  const bool is_whole = bytes.ok() && is_whole_recording(bytes->bytes());
  if (!is_whole) {
    // A writer may come back to it; one that nobody can come back to is read as far as it goes.
    const bool nobody_writes = file.was_closed || writers == Writers::kNone;
    const Clock::time_point final_at =
        file.unchanged_since + (nobody_writes ? options.settle : options.give_up);
    if (Clock::now() < final_at) {
      file.due = final_at;
      return;
    }
  }
  if (!bytes.ok()) return broken(key, stamp, {}, bytes.error());
  {
    const MutexLock lock(mutex);
    stats.bytes_read += stamp.size;
  }
  if (shipped->has_shipped(bytes->content())) {
    {
      const MutexLock lock(mutex);
      ++stats.files_known;
    }
    return finish(key, stamp, bytes->content(), false);
  }
  auto batch = read_jfr(bytes->bytes(), options.limits);
  const auto stamp_now = stamp_of(fd);
  if (!stamp_now.ok() || *stamp_now != stamp) {  // somebody wrote meanwhile
    file.due = Clock::now() + options.settle;
    file.was_closed = false;
    return;
  }
  if (!batch.ok()) return broken(key, stamp, bytes->content(), batch.error());
  name_owner(*batch, options.owner, key.second);
  time_exactly(*batch, bytes->content());
  const size_t profiles = batch->profiles.size();
  const Status taken = profiles == 0 ? Status() : ship(std::move(*batch));
  if (!taken.ok()) {
    const auto wait =
        std::min(options.last_retry, options.first_retry * (1 << std::min(file.failures, 16U)));
    ++file.failures;
    file.due = Clock::now() + wait;
    const MutexLock lock(mutex);
    ++stats.ship_failures;
    stats.last_error = taken.error().message;
    return;
  }
  {
    const MutexLock lock(mutex);
    ++stats.files_shipped;
    stats.profiles_shipped += profiles;
  }
  finish(key, stamp, bytes->content(), false);
}

void JfrFolder::Parts::broken(const Key& key, const FileStamp& stamp, const Hash128& content,
                              const Error& error) {
  const Error shown = with_context(error, full_path(key));
  {
    const MutexLock lock(mutex);
    ++stats.files_broken;
    stats.last_error = shown.message;
  }
  if (options.report) options.report(shown);
  finish(key, stamp, content, true);
}

void JfrFolder::Parts::finish(const Key& key, const FileStamp& stamp, const Hash128& content,
                              bool is_broken) {
  note(shipped->note(full_path(key), {stamp, content, is_broken}));
  waiting.erase(key);
}

void JfrFolder::Parts::note(const Status& status) {
  if (status.ok()) return;
  bool is_first = false;
  {
    const MutexLock lock(mutex);
    is_first = stats.note_failures++ == 0;
    stats.last_error = status.error().message;
  }
  if (is_first && options.report) options.report(status.error());
}

void JfrFolder::Parts::update_stats() {
  const MutexLock lock(mutex);
  stats.files_waiting = waiting.size();
  stats.files_remembered = shipped->size();
  stats.folders_watched = watch->watches();
  stats.folders_not_watched = watch->watches_missing();
  stats.queue_overflows = watch->overflows();
}

void JfrFolder::Parts::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (must_scan || Clock::now() >= next_look) scan();
    examine_due();
    update_stats();
    if (must_scan) continue;
    Clock::time_point next = next_look;
    for (const auto& [key, file] : waiting) next = std::min(next, file.due);
    int wait_ms = -1;  // nothing to do until the kernel says so
    if (next != kNever) {
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
      wait_ms = static_cast<int>(std::clamp<int64_t>(wait, 0, 3'600'000));
    }
    std::array<pollfd, 2> fds = {{{watch->fd(), POLLIN, 0}, {stop_event.get(), POLLIN, 0}}};
    (void)::poll(fds.data(), fds.size(), wait_ms);
    if ((fds[0].revents & POLLIN) != 0)
      watch->read([this](const FolderEvent& event) { take(event); });
  }
}

JfrFolder::JfrFolder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

JfrFolder::~JfrFolder() {
  stop();
}

Result<std::unique_ptr<JfrFolder>> JfrFolder::start(const JfrFolderOptions& options, Ship ship) {
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  parts->ship = std::move(ship);
  FolderWatchOptions watching;
  watching.folders = options.input_dirs;
  watching.recursive = options.recursive;
  watching.endings = {".jfr", ".jfr.gz"};
  VESTA_ASSIGN(parts->watch, FolderWatch::open(watching));
  parts->options.input_dirs = parts->watch->folders();
  VESTA_ASSIGN(parts->shipped, ShippedFiles::open(options.state_file));
  parts->stop_event = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!parts->stop_event.valid()) {
    return Error{ErrorCode::kIo, fmt::format("cannot create an event: {}", std::strerror(errno)),
                 ""};
  }
  Parts* const raw = parts.get();
  parts->thread = std::jthread([raw](const std::stop_token& stop) { raw->run(stop); });
  return std::unique_ptr<JfrFolder>(new JfrFolder(std::move(parts)));
}

void JfrFolder::stop() {
  if (!parts_->thread.joinable()) return;
  parts_->thread.request_stop();
  const uint64_t one = 1;
  (void)!::write(parts_->stop_event.get(), &one, sizeof(one));
  parts_->thread.join();
}

JfrFolderStats JfrFolder::stats() const {
  const MutexLock lock(parts_->mutex);
  return parts_->stats;
}

}  // namespace vesta::agent
