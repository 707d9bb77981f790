// Certificates for tests, made by the openssl command in a folder that goes with the object. Test
// code only.
#pragma once

#include <string>

#include "testing/temporary_folder.h"

namespace vesta::server::testing {

class Certificates {
 public:
  Certificates();

  // Whether the command is there and made the authority.
  bool ok() const { return ok_; }
  std::string ca() const { return folder_.path("ca.pem"); }
  // A certificate of the authority for localhost, with `name` as its common name. Writes
  // NAME.pem and NAME.key in the folder.
  bool issue(const std::string& name) const;
  std::string certificate(const std::string& name) const { return folder_.path(name + ".pem"); }
  std::string key(const std::string& name) const { return folder_.path(name + ".key"); }
  // Puts the files of one name in the place of another's, atomically, as renewal tools do.
  bool replace(const std::string& name, const std::string& with) const;

 private:
  TemporaryFolder folder_;
  bool ok_ = false;
};

}  // namespace vesta::server::testing
