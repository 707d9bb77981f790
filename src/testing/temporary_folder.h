// An empty folder of one test, removed with all that is in it. Test code only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace vesta {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot create " + path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // Of something in it.
  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "vesta-test-XXXXXX";
};

}  // namespace vesta
