// A folder that goes with the object. Test code only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace vesta::server::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string folder = std::filesystem::temp_directory_path() / "vesta-test-XXXXXX";
    if (::mkdtemp(folder.data()) != nullptr) folder_ = folder;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  const std::string& path() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace vesta::server::testing
