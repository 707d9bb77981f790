#include "store/rocksdb/guarded_files.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <charconv>
#include <set>
#include <string_view>

#include "base/mutex.h"

namespace vesta::rocks {
namespace {

using rocksdb::FSDirectory;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// Want of space would have RocksDB poll for room by itself, and take some such errors for final
// ones; as text it reaches only us.
constexpr std::string_view kNoSpace = "no space left on the disk";

bool is_log(std::string_view name) {
  return name.ends_with(".log");
}

std::string_view file_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

class GuardedFiles::Files : public rocksdb::FileSystemWrapper {
 public:
  Files(const std::shared_ptr<rocksdb::FileSystem>& base, LogList& logs)
      : rocksdb::FileSystemWrapper(base), logs_(logs) {}
  const char* Name() const override { return "GuardedFiles"; }

  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    std::unique_ptr<FSWritableFile> inner;
    IOStatus status = passing(target()->NewWritableFile(name, options, &inner, debug));
    if (!status.ok()) return status;
    if (is_log(name)) logs_.add(file_of(name));
    *file = std::make_unique<File>(std::move(inner), *this, name);
    return status;
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* directory, IODebugContext* debug) override {
    std::unique_ptr<FSDirectory> inner;
    IOStatus status = passing(target()->NewDirectory(name, options, &inner, debug));
    if (status.ok()) *directory = std::make_unique<Directory>(std::move(inner), *this);
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    return passing(target()->RenameFile(from, to, options, debug));
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    if (is_log(name)) {
      logs_.remove(file_of(name));
      const MutexLock lock(mutex_);
      damaged_.erase(std::string(file_of(name)));
    }
    return target()->DeleteFile(name, options, debug);
  }

  // The same error, as one that may pass.
  IOStatus passing(IOStatus status) {
    if (status.ok() || !status.IsIOError() || status.IsPathNotFound()) return status;
    const bool is_full = status.IsNoSpace();
    full = is_full;
    const char* text = status.getState() == nullptr ? "" : status.getState();
    IOStatus out = is_full ? IOStatus::IOError(Slice(kNoSpace.data(), kNoSpace.size()), text)
                           : IOStatus::IOError(text);
    out.SetRetryable(true);
    status.PermitUncheckedError();
    return out;
  }

  void damage(const std::string& name) {
    if (!is_log(name)) return;
    {
      const MutexLock lock(mutex_);
      damaged_.emplace(file_of(name));
    }
    failures.fetch_add(1);
  }
  bool is_damaged(uint64_t log) const {
    const MutexLock lock(mutex_);
    for (const std::string& name : damaged_) {
      uint64_t number = 0;
      std::from_chars(name.data(), name.data() + name.size(), number);
      if (number == log) return true;
    }
    return false;
  }

  std::atomic<uint64_t> failures = 0;
  std::atomic<bool> full = false;

 private:
  class Directory : public rocksdb::FSDirectoryWrapper {
   public:
    Directory(std::unique_ptr<FSDirectory> directory, Files& files)
        : rocksdb::FSDirectoryWrapper(std::move(directory)), files_(files) {}
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
      return files_.passing(FSDirectoryWrapper::Fsync(options, debug));
    }
    IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                                 const rocksdb::DirFsyncOptions& how) override {
      return files_.passing(FSDirectoryWrapper::FsyncWithDirOptions(options, debug, how));
    }

   private:
    Files& files_;
  };

  // Written by one thread at a time, synced by any.
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSWritableFile> file, Files& files, std::string name)
        : rocksdb::FSWritableFileOwnerWrapper(std::move(file)),
          files_(files),
          name_(std::move(name)) {}

    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
      if (is_damaged_) return refused();
      return written(data.size(), FSWritableFileOwnerWrapper::Append(data, options, debug));
    }
    IOStatus Append(const Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
      if (is_damaged_) return refused();
      return written(data.size(), FSWritableFileOwnerWrapper::Append(data, options, info, debug));
    }
    // A damaged file may be synced all the same: what is in it before the damage is worth it, and
    // nothing is acknowledged by that.
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
      return checked(FSWritableFileOwnerWrapper::Sync(options, debug));
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
      return checked(FSWritableFileOwnerWrapper::Fsync(options, debug));
    }
    IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                       IODebugContext* debug) override {
      return checked(FSWritableFileOwnerWrapper::RangeSync(offset, bytes, options, debug));
    }
    IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
      return checked(FSWritableFileOwnerWrapper::Flush(options, debug));
    }
    IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* debug) override {
      return files_.passing(FSWritableFileOwnerWrapper::Truncate(size, options, debug));
    }
    IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
      return files_.passing(FSWritableFileOwnerWrapper::Close(options, debug));
    }

   private:
    IOStatus written(size_t bytes, IOStatus status) {
      if (status.ok()) {
        size_ += bytes;
        return status;
      }
      IOStatus out = checked(std::move(status));
      // Half a record at the end would be taken for damage by the next start.
      if (is_log(name_)) {
        FSWritableFileOwnerWrapper::Truncate(size_, {}, nullptr).PermitUncheckedError();
      }
      return out;
    }
    IOStatus checked(IOStatus status) {
      if (status.ok()) return status;
      if (!is_damaged_.exchange(true)) files_.damage(name_);
      return files_.passing(std::move(status));
    }
    IOStatus refused() const {
      IOStatus out = IOStatus::IOError(name_, "an earlier write to this file failed");
      out.SetRetryable(true);
      return out;
    }

    Files& files_;
    const std::string name_;
    std::atomic<bool> is_damaged_ = false;
    // Atomic for ThreadSanitizer, which does not see how RocksDB passes a log on between threads.
    std::atomic<uint64_t> size_ = 0;
  };

  LogList& logs_;
  mutable Mutex mutex_;
  std::set<std::string> damaged_ GUARDED_BY(mutex_);
};

GuardedFiles::GuardedFiles(rocksdb::Env* base, LogList& logs)
    : files_(std::make_shared<Files>(
          (base == nullptr ? rocksdb::Env::Default() : base)->GetFileSystem(), logs)),
      env_(rocksdb::NewCompositeEnv(files_)) {}
GuardedFiles::~GuardedFiles() = default;

uint64_t GuardedFiles::failures() const {
  return files_->failures.load();
}
void GuardedFiles::note_failure() {
  files_->failures.fetch_add(1);
}
bool GuardedFiles::was_full() const {
  return files_->full.load();
}
bool GuardedFiles::is_damaged(uint64_t log) const {
  return files_->is_damaged(log);
}

bool GuardedFiles::is_no_space(const rocksdb::Status& status) {
  return status.IsNoSpace() ||
         (status.getState() != nullptr && std::string_view(status.getState()).find(kNoSpace) == 0);
}

}  // namespace vesta::rocks
