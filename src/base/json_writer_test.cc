#include "base/json_writer.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <limits>

namespace vesta {
namespace {

TEST(JsonWriter, WritesNestedDocumentsThatParse) {
  for (const int indent : {0, 2}) {
    JsonWriter json(indent);
    json.begin_object()
        .field("n", int64_t{-5})
        .key("list")
        .begin_array()
        .number(1.5)
        .string("x")
        .null();
    json.begin_object().end_object().end_array().field("ok", true).end_object();
    simdjson::dom::parser parser;
    const simdjson::dom::element parsed = parser.parse(json.take());
    EXPECT_EQ(parsed["n"].get_int64().value(), -5);
    EXPECT_EQ(parsed["list"].get_array().size(), 4u);
    EXPECT_TRUE(parsed["ok"].get_bool().value());
  }
}

TEST(JsonWriter, QuotesNamesThatAreMarkupOrGarbage) {
  EXPECT_EQ(json_quote("</script>"), R"("\u003c/script\u003e")");
  EXPECT_EQ(json_quote("a\"b\\c\n\x01"), R"("a\"b\\c\n\u0001")");
  EXPECT_EQ(json_quote("\xff"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(json_quote("\xE2\x80\xA8"), R"("\u2028")");
}

TEST(JsonWriter, NotANumberBecomesNull) {
  JsonWriter json;
  json.number(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(json.take(), "null");
}

}  // namespace
}  // namespace vesta
