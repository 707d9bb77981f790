// The plain formats of Pyroscope's early clients: lines, trie and tree. Each gives one profile of
// samples:count. Pure functions; the result owns all it holds.
//
// Trie and tree are records in pre-order: LEB128 length of the name, the name, LEB128 value, LEB128
// number of children. In a trie, names are pieces of a folded stack, put together along the path;
// in a tree, each is a frame, its value is its own, and the root has no name.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta::pyroscope {

// One stack per line, root first, each worth 1.
Result<ProfileBatch> read_lines(std::string_view bytes, const ReadOptions& options);
Result<ProfileBatch> read_trie(std::string_view bytes, const ReadOptions& options);
Result<ProfileBatch> read_tree(std::string_view bytes, const ReadOptions& options);

}  // namespace vesta::pyroscope
