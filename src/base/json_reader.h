// Reads JSON that fits into memory as a tree: settings, answers of servers, descriptions of
// containers. Profiles, which may be large, are read front to back (formats/common/json_document.h).
// A JsonTree owns its values; a Json is a view into one and must not outlive it. Reading a tree is
// thread-safe.
//
// Whatever is not there is a Json too, so that paths can be followed without a check at each step:
// `tree.root()["config"]["image"].text()` is an error that names the field which is missing.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace vesta {

class Json {
 public:
  // The field of that name; one that is missing where there is none, or this is not an object.
  Json operator[](std::string_view name) const;

  bool is_null() const { return element_ && element_->is_null(); }  // there, with nothing in it
  // Errors say which field must be what.
  Result<std::string_view> text() const;
  Result<int64_t> integer() const;  // also one that is written as 12.0
  Result<bool> boolean() const;
  Result<std::vector<Json>> list() const;
  Result<std::vector<std::pair<std::string_view, Json>>> fields() const;

  // Empty when it is not a text, or a longer one.
  std::string short_text(size_t max_bytes) const;

  // For what walks trees of any shape. REQUIRES: not missing
  simdjson::dom::element element() const { return *element_; }

 private:
  friend class JsonTree;
  Json(std::string_view name, std::optional<simdjson::dom::element> element)
      : name_(name), element_(element) {}
  template <class T>
  Result<T> as(std::string_view what) const;
  Error must_be(std::string_view what) const;

  std::string_view name_;  // of the field that it is, or that lists it; empty for the document
  std::optional<simdjson::dom::element> element_;  // none when it is missing
};

struct JsonOptions {
  size_t max_bytes = size_t{256} << 20;
  size_t max_depth = 64;
  bool repairs_text = true;  // replaces what is not valid UTF-8; otherwise an error
};

class JsonTree {
 public:
  static Result<JsonTree> parse(std::string_view text, const JsonOptions& options = {});

  Json root() const { return {"", root_}; }

 private:
  JsonTree(std::unique_ptr<simdjson::dom::parser> parser, simdjson::dom::element root)
      : parser_(std::move(parser)), root_(root) {}

  std::unique_ptr<simdjson::dom::parser> parser_;  // owns the values, which point to it
  simdjson::dom::element root_;
};

}  // namespace vesta
