#include "query/type_words.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(TypeWords, FindWhatIsMeant) {
  const auto type = [](std::string_view id) { return *ProfileType::parse(id); };
  const std::vector<ProfileType> types = {type("block:delay:nanoseconds:contentions:count"),
                                          type("memory:alloc_space:bytes:space:bytes"),
                                          type("memory:inuse_space:bytes:space:bytes"),
                                          type("mutex:delay:nanoseconds:contentions:count"),
                                          type("process_cpu:cpu:nanoseconds:cpu:nanoseconds")};
  const auto found = [&](std::string_view word) {
    const auto result = find_stored_type(types, word);
    return result.ok() ? result->id() : result.error().message;
  };
  EXPECT_EQ(found("cpu"), types[4].id());
  EXPECT_EQ(found("alloc"), types[1].id());
  EXPECT_EQ(found("inuse"), types[2].id());
  EXPECT_EQ(found("mutex"), types[3].id());
  EXPECT_EQ(found("block"), types[0].id());
  EXPECT_EQ(found(""), types[4].id());
  EXPECT_EQ(found("wall"), "no profile type 'wall'");
  EXPECT_EQ(find_stored_type({types[1]}, "")->id(), types[1].id());
  EXPECT_FALSE(find_stored_type({types[0], types[1]}, "").ok());
  EXPECT_EQ(find_stored_type({}, "cpu").error().code, ErrorCode::kNoData);
}

}  // namespace
}  // namespace vesta
