// A file system that can run full, and that knows what a power cut would leave of each file. For
// tests of durability; thread-safe.
#pragma once

#include <memory>
#include <string>

namespace rocksdb {
class Env;
}

namespace vesta::test {

class FaultyFileSystem {
 public:
  FaultyFileSystem();
  ~FaultyFileSystem();

  rocksdb::Env* env();
  // Every byte that is to be written fails for want of space.
  void set_full(bool full);
  // So many bytes may still be written, then the rest of a write fails: for want of space, or as on
  // a device with errors. set_full(false) ends it.
  void set_room(uint64_t bytes, bool is_device_error = false);
  // Writes wait until this is set to false again, as on a device that does not answer.
  void set_stuck(bool stuck);
  // What a machine would find after the power came back: every file up to its last fsync.
  void copy_synced(const std::string& from, const std::string& to) const;

 private:
  class Files;
  std::shared_ptr<Files> files_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace vesta::test
