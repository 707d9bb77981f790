#include "server/ingest/multipart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/ingest/test_server.h"

namespace vesta::server {
namespace {

using ::testing::HasSubstr;

TEST(Multipart, PartsAreFoundByName) {
  const std::string body =
      test::multipart_body({{"profile", std::string("\x1f\x8b\r\n--\0x", 8)}, {"labels", ""}});
  const auto parts = parse_multipart(test::kMultipartType, body);
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  ASSERT_EQ(parts->size(), 2u);
  ASSERT_NE(find_part(*parts, "profile"), nullptr);
  EXPECT_EQ(find_part(*parts, "profile")->content, std::string_view("\x1f\x8b\r\n--\0x", 8));
  EXPECT_EQ(find_part(*parts, "labels")->content, "");
  EXPECT_EQ(find_part(*parts, "other"), nullptr);
}

TEST(Multipart, AcceptsWhatTheStandardAllows) {
  const std::string_view body =
      "preamble\r\n--b \t\r\ncontent-DISPOSITION:form-data ; filename=\"a;b\" ; "
      "NAME=p\r\n\r\n1\r\n--b--"
      "epilogue";
  const auto parts = parse_multipart("Multipart/Form-Data; charset=utf-8; Boundary=b", body);
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ(parts->front().name, "p");
  EXPECT_EQ(parts->front().content, "1");
}

TEST(Multipart, NoPartsIsNoError) {
  const auto parts = parse_multipart("multipart/form-data; boundary=b", "--b--\r\n");
  ASSERT_TRUE(parts.ok());
  EXPECT_TRUE(parts->empty());
}

TEST(Multipart, TruncationIsNoticedAtEveryByte) {
  const std::string body = test::multipart_body({{"profile", "0123456789"}, {"labels", "x"}});
  // Whether the last boundary ends with a line break does not matter.
  for (size_t size = 0; size + 2 < body.size(); ++size)
    EXPECT_FALSE(parse_multipart(test::kMultipartType, body.substr(0, size)).ok()) << size;
}

TEST(Multipart, BadBodiesAreRefused) {
  const auto error = [](std::string_view type, std::string_view body) {
    const auto parts = parse_multipart(type, body);
    return parts ? std::string("none") : parts.error().message;
  };
  EXPECT_THAT(error("multipart/form-data", "--b--"), HasSubstr("no boundary"));
  EXPECT_THAT(error("multipart/form-data; boundary=", "--b--"), HasSubstr("no boundary"));
  EXPECT_THAT(error("multipart/form-data; boundary=\"b", "--b--"), HasSubstr("no boundary"));
  EXPECT_THAT(error("multipart/form-data; boundary=" + std::string(71, 'b'), ""),
              HasSubstr("no boundary"));
  EXPECT_THAT(error("multipart/form-data; boundary=b", "--c--"), HasSubstr("does not occur"));
  EXPECT_THAT(error("multipart/form-data; boundary=b", "--b\r\nx: y\r\n\r\n1\r\n--b--"),
              HasSubstr("without a name"));
  EXPECT_THAT(error("multipart/form-data; boundary=b",
                    "--b\r\nx: " + std::string(10'000, 'y') + "\r\n\r\n1\r\n--b--"),
              HasSubstr("end of its headers"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "--b\r\ncontent-disposition: form-data; name=x\r\n\r\n\r\n";
  EXPECT_THAT(error("multipart/form-data; boundary=b", many + "--b--"), HasSubstr("more than 64"));
}

}  // namespace
}  // namespace vesta::server
