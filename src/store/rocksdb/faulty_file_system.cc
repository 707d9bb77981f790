#include "store/rocksdb/faulty_file_system.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/mutex.h"

namespace vesta::test {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class FaultyFileSystem::Files : public rocksdb::FileSystemWrapper {
 public:
  Files() : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FaultyFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) override {
    if (full) return failure();
    std::unique_ptr<FSWritableFile> inner;
    IOStatus status = target()->NewWritableFile(name, options, &inner, debug);
    if (status.ok()) {
      const MutexLock lock(mutex);
      synced[name] = 0;
      *file = std::make_unique<File>(std::move(inner), *this, name);
    }
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus status = target()->RenameFile(from, to, options, debug);
    const MutexLock lock(mutex);
    if (const auto found = synced.find(from); status.ok() && found != synced.end()) {
      synced[to] = found->second;
      synced.erase(from);
    }
    return status;
  }

  IOStatus failure() const {
    return device_error ? IOStatus::IOError("a broken device, says the test")
                        : IOStatus::NoSpace("no room, says the test");
  }
  // How much of a write is taken.
  size_t take(size_t bytes) {
    stuck.wait(true);
    if (full) return 0;
    if (!is_bounded) return bytes;
    const MutexLock lock(mutex);
    const size_t taken = std::min<uint64_t>(room, bytes);
    room -= taken;
    if (taken < bytes) full = true;
    return taken;
  }

  std::atomic<bool> full = false;
  std::atomic<bool> stuck = false;
  std::atomic<bool> device_error = false;
  std::atomic<bool> is_bounded = false;
  uint64_t room GUARDED_BY(mutex) = 0;
  mutable Mutex mutex;
  std::map<std::string, uint64_t> synced GUARDED_BY(mutex);

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSWritableFile> file, Files& files, std::string name)
        : rocksdb::FSWritableFileOwnerWrapper(std::move(file)),
          files_(files),
          name_(std::move(name)) {}

    using rocksdb::FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                    IODebugContext* debug) override {
      return append(data, options, debug);
    }
    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
      static_cast<void>(info);
      return append(data, options, debug);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
      if (files_.full && files_.device_error) return files_.failure();
      IOStatus status = FSWritableFileOwnerWrapper::Sync(options, debug);
      if (status.ok()) note();
      return status;
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
      IOStatus status = FSWritableFileOwnerWrapper::Fsync(options, debug);
      if (status.ok()) note();
      return status;
    }

   private:
    IOStatus append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) {
      const size_t taken = files_.take(data.size());
      const bool is_whole = taken == data.size();
      if (taken != 0) {
        IOStatus status =
            FSWritableFileOwnerWrapper::Append(rocksdb::Slice(data.data(), taken), options, debug);
        if (!status.ok()) return status;
        if (is_whole) written_ += taken;
      }
      return is_whole ? IOStatus::OK() : files_.failure();
    }
    void note() {
      const MutexLock lock(files_.mutex);
      files_.synced[name_] = written_;
    }
    Files& files_;
    std::string name_;
    uint64_t written_ = 0;
  };
};

FaultyFileSystem::FaultyFileSystem()
    : files_(std::make_shared<Files>()), env_(rocksdb::NewCompositeEnv(files_)) {}
FaultyFileSystem::~FaultyFileSystem() = default;

rocksdb::Env* FaultyFileSystem::env() {
  return env_.get();
}

void FaultyFileSystem::set_full(bool full) {
  files_->is_bounded = false;
  files_->device_error = false;
  files_->full = full;
}

void FaultyFileSystem::set_room(uint64_t bytes, bool is_device_error) {
  {
    const MutexLock lock(files_->mutex);
    files_->room = bytes;
  }
  files_->device_error = is_device_error;
  files_->is_bounded = true;
}

void FaultyFileSystem::set_stuck(bool stuck) {
  files_->stuck = stuck;
  files_->stuck.notify_all();
}

void FaultyFileSystem::copy_synced(const std::string& from, const std::string& to) const {
  std::filesystem::create_directories(to);
  const MutexLock lock(files_->mutex);
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    if (!entry.is_regular_file() || entry.path().filename() == "LOCK") continue;
    const auto known = files_->synced.find(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (known != files_->synced.end() && known->second < bytes.size()) bytes.resize(known->second);
    std::ofstream(std::filesystem::path(to) / entry.path().filename(), std::ios::binary) << bytes;
  }
}

}  // namespace vesta::test
