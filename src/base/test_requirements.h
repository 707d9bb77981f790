// For tests that need something a machine may lack (a tool, root, BPF): they skip and say why, or
// fail when VESTA_REQUIRE_ALL=1 says that this machine must have it all. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace vesta {

inline bool require_all() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment while tests run.
  const char* value = std::getenv("VESTA_REQUIRE_ALL");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace vesta

// Ends the test, skipped, with a reason; or failed, if nothing may be skipped.
#define VESTA_SKIP(reason)                                                   \
  do {                                                                       \
    if (vesta::require_all()) FAIL() << "must not be skipped: " << (reason); \
    GTEST_SKIP() << (reason);                                                \
  } while (false)
