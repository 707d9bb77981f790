// Builds OTLP messages field by field for tests, legal and illegal ones, in any release's
// numbering.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "formats/otlp/layout.h"
#include "formats/protobuf/wire.h"

namespace vesta::otlp {

struct TestSample {
  uint32_t stack = 1;
  std::vector<int64_t> values;
  std::vector<int64_t> attributes;
  uint32_t link = 0;
  std::vector<uint64_t> times;
};

// Three functions a, b, c; stack 1 = c < b < a (leaf first: c, b, a), stack 2 = b < a. Attribute 1
// is the build id of the one mapping, 2 is the kind of all frames, 3 is thread.name=main, 4 is
// thread.id=7. Link 1 is all ones.
struct TestMessage {
  Layout layout = kLayout1_10;
  std::vector<TestSample> samples;
  std::vector<std::string> strings{"",
                                   "samples",
                                   "count",
                                   "cpu",
                                   "nanoseconds",
                                   "a",
                                   "b",
                                   "c",
                                   "app.c",
                                   "/bin/app",
                                   "process.executable.build_id.gnu",
                                   "profile.frame.type",
                                   "thread.name",
                                   "thread.id"};
  std::vector<std::string> more_attributes;  // encoded KeyValueAndUnit
  std::vector<int64_t> profile_attributes;
  std::string profile_fields;  // appended to the Profile as they are
  std::string dictionary_fields;
  std::string scope;
  std::string resource;
  bool with_table_attributes = true;
  bool with_sample_attributes = true;
  uint64_t time = 1'700'000'000'000'000'000;

  static std::string attribute(uint32_t key, std::string_view value, uint32_t unit = 0) {
    WireWriter out;
    out.uint64(1, key);
    out.always_bytes(2, value);
    out.uint64(3, unit);
    return out.take();
  }
  static std::string text(std::string_view value) {
    WireWriter out;
    out.always_bytes(1, value);
    return out.take();
  }
  static std::string number(int64_t value) {
    WireWriter out;
    out.always_uint64(3, static_cast<uint64_t>(value));
    return out.take();
  }
  static std::string key_value(std::string_view key, std::string_view value) {
    WireWriter out;
    out.bytes(1, key);
    out.always_bytes(2, value);
    return out.take();
  }

  std::string encode_sample(const TestSample& sample) const {
    std::vector<std::string> fields(6);
    const auto put = [&](uint32_t field, auto&& write) {
      WireWriter out;
      write(out, field);
      fields[field] = out.take();
    };
    put(1, [&](WireWriter& out, uint32_t f) { out.uint64(f, sample.stack); });
    put(layout.sample_values, [&](WireWriter& out, uint32_t f) { out.packed(f, sample.values); });
    put(layout.sample_attributes,
        [&](WireWriter& out, uint32_t f) { out.packed(f, sample.attributes); });
    put(layout.sample_link, [&](WireWriter& out, uint32_t f) { out.uint64(f, sample.link); });
    put(5, [&](WireWriter& out, uint32_t f) { out.packed_fixed64(f, sample.times); });
    std::string all;
    for (const std::string& field : fields) all += field;
    return all;
  }

  std::string encode_profile() const {
    WireWriter type;
    type.uint64(1, 1);
    type.uint64(2, 2);
    WireWriter period_type;
    period_type.uint64(1, 3);
    period_type.uint64(2, 4);
    WireWriter out;
    out.message(1, type);
    for (const TestSample& sample : samples) out.always_bytes(2, encode_sample(sample));
    out.fixed64(3, time);
    out.uint64(4, 5'000'000'000);
    out.message(5, period_type);
    out.int64(6, 50'000'000);
    out.packed(layout.profile_attributes, profile_attributes);
    return out.take() + profile_fields;
  }

  std::string encode_dictionary() const {
    WireWriter out;
    const std::vector<int64_t> build_id{1};
    const std::vector<int64_t> kind{2};
    WireWriter mapping;
    mapping.uint64(1, 0x1000);
    mapping.uint64(2, 0x9000);
    mapping.uint64(4, 9);
    if (with_table_attributes) mapping.packed(5, build_id);
    out.always_bytes(1, "");
    out.message(1, mapping);
    out.always_bytes(2, "");
    for (uint32_t i = 1; i <= 3; ++i) {
      WireWriter line;
      line.uint64(1, i);
      line.uint64(2, i * 10);
      WireWriter location;
      location.uint64(1, 1);
      location.uint64(2, 0x1000 + i);
      location.message(3, line);
      if (with_table_attributes) location.packed(4, kind);
      out.message(2, location);
    }
    out.always_bytes(3, "");
    for (uint32_t i = 1; i <= 3; ++i) {
      WireWriter function;
      function.uint64(1, 4 + i);
      function.uint64(3, 8);
      out.message(3, function);
    }
    WireWriter link;
    link.always_bytes(1, std::string(16, '\1'));
    link.always_bytes(2, std::string(8, '\1'));
    out.always_bytes(4, "");
    out.message(4, link);
    for (const std::string& string : strings) out.always_bytes(5, string);
    out.always_bytes(6, "");
    if (with_table_attributes) {
      out.always_bytes(6, attribute(10, text("abcdef")));
      out.always_bytes(6, attribute(11, text("native")));
    }
    if (with_sample_attributes) {
      out.always_bytes(6, attribute(12, text("main")));
      out.always_bytes(6, attribute(13, number(7)));
    }
    for (const std::string& more : more_attributes) out.always_bytes(6, more);
    const std::vector<int64_t> deep{3, 2, 1};
    const std::vector<int64_t> shallow{2, 1};
    WireWriter stack;
    out.always_bytes(7, "");
    stack.packed(1, deep);
    out.message(7, stack);
    stack.clear();
    stack.packed(1, shallow);
    out.message(7, stack);
    return out.take() + dictionary_fields;
  }

  std::string encode() const {
    WireWriter scopes;
    scopes.bytes(1, scope);
    scopes.always_bytes(2, encode_profile());
    WireWriter resources;
    resources.bytes(1, resource);
    resources.message(2, scopes);
    WireWriter out;
    out.message(1, resources);
    out.always_bytes(2, encode_dictionary());
    return out.take();
  }
};

}  // namespace vesta::otlp
