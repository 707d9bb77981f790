// Roles that keep profiles, and commands that make files for them, let nobody else read them.
#pragma once

#include <sys/stat.h>

namespace vesta::cli {

// What the process makes from now on is for its owner alone, whoever creates it (RocksDB does), and
// whatever umask it was started with. Before threads; not in a process that starts other programs.
inline void keep_files_private() {
  ::umask(S_IRWXG | S_IRWXO);
}

}  // namespace vesta::cli
