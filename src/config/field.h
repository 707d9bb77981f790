// One key of a configuration: how its value is read, shown and documented. A table of fields is
// bound to the struct that it fills, which must outlive it. Files, the environment and flags all
// set values through the same table, so that they mean the same everywhere. Not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/findings.h"
#include "config/node.h"

namespace vesta::config {

// Whom to tell about a value that is wrong, and where it stands.
class Reader {
 public:
  // `name` is the file, variable or flag that values come from.
  Reader(Source source, std::string name, Findings& findings)
      : source_(source), name_(std::move(name)), findings_(findings) {}

  // `path` is the key that is meant; a variable or a flag says that already.
  void fail(Position at, std::string_view path, const Error& error);
  void fail(Position at, std::string_view path, std::string what, std::string hint = {}) {
    fail(at, path, Error{ErrorCode::kUsage, std::move(what), std::move(hint)});
  }
  // As it is, without the key.
  void fail_plainly(Position at, std::string what, std::string hint = {});
  void warn(Position at, std::string_view path, const std::string& what);
  // Remembers that everything in `node` is from here.
  void note_origin(const std::string& path, const Node& node, const std::string& given_as = {});
  // What is not given under `path` comes from where `other` came from.
  void inherit_origin(const std::string& path, const std::string& other);

  size_t error_count() const { return findings_.errors.size(); }
  // False when there are so many errors that more are not kept.
  bool wants_more() const { return findings_.errors.size() < Findings::kMost; }

 private:
  std::string in_words(std::string_view path, const std::string& what) const;

  Source source_;
  std::string name_;
  Findings& findings_;
};

struct Field {
  std::string key;                 // "server.http"
  std::string type;                // in words, for documentation: "size", "list of words"
  std::string alias_of;            // the key that means the same, and stands above this one
  bool from_word = false;          // the environment and flags can set it
  bool has_items = false;          // as several words with commas between them
  std::vector<std::string> below;  // keys inside of its value: "[].endpoint"
  std::function<void(Reader&, const Node&, const std::string& path)> read;
  std::function<Node()> show;  // none where there is nothing to show
};
using Fields = std::vector<Field>;

// Reads the keys of `node`, in the order of the table. Keys that there are not are errors with the
// nearest that there are. `path` is what stands before the keys, empty at the top.
void read_fields(Reader& reader, const Node& node, const std::string& path, const Fields& fields);
void read_document(const Document& document, const Fields& fields, Findings& findings);

// "server.http" -> "VESTA_SERVER_HTTP".
std::string environment_name(std::string_view key);
using GetEnvironment = std::function<const char*(const char*)>;
// Applies all variables that are set.
void read_environment(const GetEnvironment& get, const Fields& fields, Findings& findings);
// One value from a flag. An error when there is no such key, or it takes more than a word.
void read_flag(const std::string& flag, std::string_view key, const std::string& word,
               const Fields& fields, Findings& findings);

// All keys, with those inside of lists and maps: "agent.exporters[].type", "agent.labels.*".
std::vector<std::string> keys_of(const Fields& fields);
// Not shown while it has no value: an empty text, 0.
Field shown_if_set(Field field);
// What is in force, as a tree.
Node show_fields(const Fields& fields);

}  // namespace vesta::config
