// What the rows and bars of reports are named after: functions, lines, files or binaries of several
// services or of a file, each once. Refers to strings of trees and dictionaries, which it keeps
// alive. Not thread-safe while it grows.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id_index.h"
#include "base/result.h"
#include "profile/frame_profile.h"

namespace vesta {

// "function", "file-function", "file", "line", "address", "binary"; empty is "function". kUsage for
// another word.
Result<Granularity> parse_granularity(std::string_view word);

class FrameNames {
 public:
  explicit FrameNames(Granularity granularity) : granularity_(granularity) { names_.push_back({}); }
  // Those of a profile's frames, with the same numbers.
  explicit FrameNames(const FrameProfile& profile);

  Granularity granularity() const { return granularity_; }
  // Entry 0 is the empty one, which roots have.
  size_t size() const { return names_.size(); }
  const FrameName& operator[](uint32_t id) const { return names_[id]; }
  std::string text(uint32_t id) const { return display_text(names_[id], granularity_); }

  // The number of the function of that name; 0 when there is none.
  // REQUIRES: grouped by function, names that number() gave
  uint32_t find_function(std::string_view name) const;

  // The number of that name, found by what tells names apart at the granularity, which alone is
  // set. For a new one, `complete(name)` adds the rest. Its strings must be kept.
  template <class Complete>
  uint32_t number(FrameName name, Complete&& complete) {
    const Key key = key_of(name);
    const uint32_t found = index_.find_or_insert(
        hash_of(key), [&](uint32_t at) { return key_of(names_[at]) == key; },
        [&] {
          complete(name);
          names_.push_back(name);
          return static_cast<uint32_t>(names_.size() - 1);
        });
    names_[found].start_line = first_line(names_[found].start_line, name.start_line);
    return found;
  }
  template <class Owner>
  void keep(Owner owner) {
    kept_.push_back(std::make_shared<const Owner>(std::move(owner)));
  }
  std::string_view keep_text(std::string text) { return own_texts_.emplace_back(std::move(text)); }

  // A name that stands for no frame: "pod=web-1". Shown as it is, whatever names are grouped by.
  uint32_t add_label(std::string text);

  // The order of names in tables and graphs: that of their texts. Below 0: `a` comes first.
  int compare(uint32_t a, uint32_t b) const;
  bool is_before(uint32_t a, uint32_t b) const { return compare(a, b) < 0; }

 private:
  struct Key {
    std::string_view name;
    std::string_view file;
    int64_t line = 0;
    uint32_t column = 0;
    uint64_t address = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  // What tells two names of trees apart.
  Key key_of(const FrameName& name) const;
  uint64_t hash_of(const Key& key) const;

  Granularity granularity_;
  std::vector<FrameName> names_;
  IdIndex index_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::deque<std::string> own_texts_;  // labels, and paths that the trees spell in a longer way
};

}  // namespace vesta
