// For tests that need what a machine may lack (root, BPF, a compiler of another language): they
// skip and say why, but fail where VESTA_REQUIRE_ALL=1 promises that everything is there. Test code
// only.
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

// Ends the test in the same way unless the condition holds.
#define VESTA_REQUIRE_OR_SKIP(condition, reason) \
  do {                                           \
    if (!(condition)) VESTA_SKIP(reason);        \
  } while (false)
