// The shortest way to write a source path, so that one file has one name whatever the compiler
// called it: "./a//b/../c.cc" is "a/c.cc". Pure function.
#pragma once

#include <string>
#include <string_view>

namespace vesta {

// Without "." and "..", doubled slashes and the directory that Bazel's compilers see; the same
// spelling as pprof. The result is a view of the input or of `scratch`.
std::string_view clean_source_path(std::string_view path, std::string& scratch);

}  // namespace vesta
