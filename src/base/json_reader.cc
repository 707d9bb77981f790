#include "base/json_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/utf8.h"

namespace vesta {

namespace dom = simdjson::dom;

Json Json::operator[](std::string_view name) const {
  dom::element found;
  if (!element_ || element_->at_key(name).get(found) != simdjson::SUCCESS)
    return {name, std::nullopt};
  return {name, found};
}

Error Json::must_be(std::string_view what) const {
  const std::string place = name_.empty() ? "the document" : fmt::format("field '{}'", name_);
  return {ErrorCode::kInvalidInput,
          element_ ? fmt::format("{} must be {}", place, what) : place + " is missing", ""};
}

template <class T>
Result<T> Json::as(std::string_view what) const {
  T value{};
  if (!element_ || element_->get(value) != simdjson::SUCCESS) return must_be(what);
  return value;
}

Result<std::string_view> Json::text() const {
  return as<std::string_view>("a string");
}

Result<int64_t> Json::integer() const {
  if (const auto integer = as<int64_t>("an integer")) return *integer;
  constexpr double kLimit = 9.0e15;  // below 2^53, where doubles still are exact integers
  VESTA_ASSIGN(const double real, as<double>("an integer"));
  if (std::abs(real) > kLimit || std::trunc(real) != real) return must_be("an integer");
  return static_cast<int64_t>(real);
}

Result<bool> Json::boolean() const {
  return as<bool>("true or false");
}

std::string Json::short_text(size_t max_bytes) const {
  const auto text = this->text();
  return text && text->size() <= max_bytes ? std::string(*text) : std::string();
}

Result<std::vector<Json>> Json::list() const {
  VESTA_ASSIGN(const dom::array array, as<dom::array>("a list"));
  std::vector<Json> items;
  for (const dom::element item : array) items.push_back(Json(name_, item));
  return items;
}

Result<std::vector<std::pair<std::string_view, Json>>> Json::fields() const {
  VESTA_ASSIGN(const dom::object object, as<dom::object>("an object"));
  std::vector<std::pair<std::string_view, Json>> fields;
  for (const auto [name, value] : object) fields.emplace_back(name, Json(name, value));
  return fields;
}

Result<JsonTree> JsonTree::parse(std::string_view text, const JsonOptions& options) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.size() > options.max_bytes) {
    return Error{ErrorCode::kLimit, fmt::format("JSON of more than {} bytes", options.max_bytes),
                 ""};
  }
  auto parser = std::make_unique<dom::parser>();
  // It grows with the text, and makes the padded copy that it wants.
  simdjson::error_code error = parser->allocate(dom::MINIMAL_DOCUMENT_CAPACITY, options.max_depth);
  dom::element root;
  if (error == simdjson::SUCCESS) error = parser->parse(text.data(), text.size()).get(root);
  if (error == simdjson::UTF8_ERROR && options.repairs_text)
    error = parser->parse(replace_invalid_utf8(text)).get(root);
  if (error == simdjson::DEPTH_ERROR) {
    return Error{ErrorCode::kLimit, fmt::format("JSON deeper than {} levels", options.max_depth),
                 ""};
  }
  if (error != simdjson::SUCCESS) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("not JSON: {}", simdjson::error_message(error)), ""};
  }
  return JsonTree(std::move(parser), root);
}

}  // namespace vesta
