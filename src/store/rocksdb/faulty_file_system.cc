#include "store/rocksdb/faulty_file_system.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

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
    if (full) return no_space();
    std::unique_ptr<FSWritableFile> inner;
    IOStatus status = target()->NewWritableFile(name, options, &inner, debug);
    if (status.ok()) {
      const std::lock_guard lock(mutex);
      synced[name] = 0;
      *file = std::make_unique<File>(std::move(inner), *this, name);
    }
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    IOStatus status = target()->RenameFile(from, to, options, debug);
    const std::lock_guard lock(mutex);
    if (const auto found = synced.find(from); status.ok() && found != synced.end()) {
      synced[to] = found->second;
      synced.erase(from);
    }
    return status;
  }

  static IOStatus no_space() { return IOStatus::NoSpace("no room, says the test"); }

  std::atomic<bool> full = false;
  mutable std::mutex mutex;
  std::map<std::string, uint64_t> synced;

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
      if (files_.full) return no_space();
      written_ += data.size();
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                    const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
      if (files_.full) return no_space();
      written_ += data.size();
      return FSWritableFileOwnerWrapper::Append(data, options, info, debug);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
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
    void note() {
      const std::lock_guard lock(files_.mutex);
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
  files_->full = full;
}

void FaultyFileSystem::copy_synced(const std::string& from, const std::string& to) const {
  std::filesystem::create_directories(to);
  const std::lock_guard lock(files_->mutex);
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
