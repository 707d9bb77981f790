// The one result type: a value or an Error that is fit to be shown to a person.
// Values own what they hold; nothing here is shared between threads.
// Three ways to use it: test and read (`if (!r) … r.error()`), pass on (`VESTA_TRY`,
// `VESTA_ASSIGN`), or `value_or`.
#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace vesta {

enum class ErrorCode {
  kInvalidInput,  // outside bytes are not what they should be
  kLimit,         // outside bytes are larger than the limits in force
  kNotFound,
  kPermission,
  kUnsupported,  // valid, but not something this version can do
  kUsage,        // the caller's words are off: exit code 2
  kNoData,       // nothing to show: exit code 4
  kIo,
  kUnauthenticated,  // nobody we know asks
  kTooMany,          // of what would be fine alone: try again later
  kUnavailable,      // not now, through no fault of the caller: a full disk, a shutdown
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;  // what failed and why, one line, no full stop
  std::string hint;     // what to do about it; may be empty
};

// The same error with `context: ` before its message, such as a file name.
Error with_context(Error error, std::string_view context);

template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a function says `return value;` or `return error;`.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok()
  T& value() & { return assert(ok()), *std::get_if<0>(&state_); }
  const T& value() const& { return assert(ok()), *std::get_if<0>(&state_); }
  T&& value() && { return assert(ok()), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  T value_or(T fallback) && { return ok() ? std::move(*this).value() : std::move(fallback); }

  // REQUIRES: !ok()
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as above.
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const& { return assert(!ok_), error_; }
  Error&& error() && { return assert(!ok_), std::move(error_); }

 private:
  Error error_;
  bool ok_ = true;
};

using Status = Result<void>;

#define VESTA_CONCAT_(a, b) a##b
#define VESTA_CONCAT(a, b) VESTA_CONCAT_(a, b)

// Returns the error of `expr` from the enclosing function, if it is one.
#define VESTA_TRY(expr)                                                                   \
  do {                                                                                    \
    if (auto vesta_try_ = (expr); !vesta_try_.ok()) return std::move(vesta_try_).error(); \
  } while (false)

// `VESTA_ASSIGN(auto x, f());` declares x from the value of f(), or returns its error.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration in parentheses is none.
#define VESTA_ASSIGN(declaration, expr)                              \
  auto VESTA_CONCAT(vesta_result_, __LINE__) = (expr);               \
  if (!VESTA_CONCAT(vesta_result_, __LINE__).ok())                   \
    return std::move(VESTA_CONCAT(vesta_result_, __LINE__)).error(); \
  declaration = std::move(VESTA_CONCAT(vesta_result_, __LINE__)).value()
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace vesta
