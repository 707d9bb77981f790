// Text in the form that RocksDB takes. Refers to the text, which must outlive it.
#pragma once

#include <rocksdb/slice.h>

#include <string_view>

namespace vesta::rocks {

inline rocksdb::Slice slice(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace vesta::rocks
