// Copies of the whole store, while it runs: only files that the directory does not have yet.
#pragma once

#include <string>

#include "store/rocksdb/store.h"

namespace vesta::rocks {

Status backup(Store& store, const std::string& directory);

}  // namespace vesta::rocks
