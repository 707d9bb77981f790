// What a word of a configuration can be: a switch, a number, a time, a size, a share, one of some
// words. Each type reads a word (`parse`, which leaves the value alone on an error), writes it as
// it would be typed (`text`), and has a name for documentation. Values; pure functions.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace vesta::config {

// "'lots' is not a size, such as 64MiB"
Error not_a(std::string_view word, std::string_view wanted, std::string hint = {});

// "10s", "1h30m", "366d": the shortest that parses to the same.
std::string duration_text(int64_t ns);
// "64MiB"
std::string size_text(uint64_t bytes);

struct Text {
  static constexpr bool kIsText = true;
  static constexpr size_t kMaxBytes = 64 * 1024;
  bool may_be_empty = true;

  std::string name() const { return "text"; }
  Status parse(std::string_view word, std::string& to) const;
  std::string text(const std::string& value) const { return value; }
};

// Shown as asterisks.
struct Secret {
  static constexpr bool kIsText = true;

  std::string name() const { return "text"; }
  Status parse(std::string_view word, std::string& to) const { return Text().parse(word, to); }
  std::string text(const std::string& value) const { return value.empty() ? "" : "***"; }
};

struct Switch {
  static constexpr bool kIsText = false;

  std::string name() const { return "true or false"; }
  Status parse(std::string_view word, bool& to) const;
  std::string text(bool value) const { return value ? "true" : "false"; }
};

struct Count {
  static constexpr bool kIsText = false;
  uint64_t least = 0;
  uint64_t most = uint64_t{1} << 48;

  std::string name() const { return "number"; }
  template <std::unsigned_integral T>
  Status parse(std::string_view word, T& to) const {
    VESTA_ASSIGN(const uint64_t count,
                 parse_in(word, std::min<uint64_t>(most, std::numeric_limits<T>::max())));
    to = static_cast<T>(count);
    return {};
  }
  std::string text(uint64_t value) const { return std::to_string(value); }

 private:
  Result<uint64_t> parse_in(std::string_view word, uint64_t up_to) const;
};

struct Duration {
  static constexpr bool kIsText = true;
  int64_t least_ns = 0;
  int64_t most_ns = std::numeric_limits<int64_t>::max();

  std::string name() const { return "duration"; }
  Status parse(std::string_view word, int64_t& to_ns) const;
  Status parse(std::string_view word, std::chrono::milliseconds& to) const;
  std::string text(int64_t ns) const { return duration_text(ns); }
  std::string text(std::chrono::milliseconds value) const {
    return duration_text(std::chrono::nanoseconds(value).count());
  }
};

struct Size {
  static constexpr bool kIsText = true;
  uint64_t least = 0;
  uint64_t most = std::numeric_limits<uint64_t>::max();

  std::string name() const { return "size"; }
  Status parse(std::string_view word, uint64_t& to) const;
  std::string text(uint64_t bytes) const { return size_text(bytes); }
};

// "1%" or 0.01
struct Share {
  static constexpr bool kIsText = true;
  double least = 0;
  double most = 1;

  std::string name() const { return "share"; }
  Status parse(std::string_view word, double& to) const;
  std::string text(double value) const;
};

// "0.048", "12"; not negative.
struct Decimal {
  static constexpr bool kIsText = false;
  double most = 1e12;

  std::string name() const { return "decimal"; }
  Status parse(std::string_view word, double& to) const;
  std::string text(double value) const;
};

// One of some words.
template <class T>
class Choice {
 public:
  static constexpr bool kIsText = true;

  Choice(std::initializer_list<std::pair<std::string_view, T>> words) : words_(words) {}

  std::string name() const { return in_words(", ", " or "); }
  Status parse(std::string_view word, T& to) const {
    for (const auto& [known, value] : words_) {
      if (word != known) continue;
      to = value;
      return {};
    }
    return not_a(word, name());
  }
  std::string text(const T& value) const {
    for (const auto& [known, meaning] : words_) {
      if (meaning == value) return std::string(known);
    }
    return {};
  }

 private:
  std::string in_words(std::string_view comma, std::string_view last) const {
    std::string all;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (i > 0) all += i + 1 == words_.size() ? last : comma;
      all += words_[i].first;
    }
    return all;
  }
  std::vector<std::pair<std::string_view, T>> words_;
};

}  // namespace vesta::config
