// Which write-ahead logs a store has, in a small file beside them. RocksDB starts without a log
// that is gone and says nothing, though what was acknowledged last is in that log alone. The list
// never names a log before it is there, nor one that is about to be deleted; where it cannot be
// kept up to date it is removed, so that no good store is refused. Thread-safe.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace vesta::rocks {

class LogList {
 public:
  // Reads what is there.
  explicit LogList(std::string directory);

  // Listed, but not in the directory.
  std::vector<std::string> missing() const;
  void add(std::string_view log);
  void remove(std::string_view log);
  // The file, for messages.
  std::string path() const;

 private:
  void store() REQUIRES(mutex_);

  const std::string directory_;
  mutable Mutex mutex_;
  std::set<std::string> logs_ GUARDED_BY(mutex_);
};

}  // namespace vesta::rocks
