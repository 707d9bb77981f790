#include "server/testing/certificates.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vesta::server::testing {
namespace {

bool run(const std::string& command) {
  // NOLINTNEXTLINE(cert-env33-c): a fixed command of a test.
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace

Certificates::Certificates() {
  ok_ =
      run(fmt::format("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                      "-days 2 -subj /CN=test-authority -keyout {0}/ca.key -out {0}/ca.pem",
                      folder_.path()));
}

bool Certificates::issue(const std::string& name) const {
  std::ofstream(folder_.path("extensions"))
      << "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n";
  return run(
      fmt::format("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
                  "-subj /CN={1} -keyout {0}/{1}.key -out {0}/{1}.csr && "
                  "openssl x509 -req -in {0}/{1}.csr -CA {0}/ca.pem -CAkey {0}/ca.key "
                  "-CAcreateserial -days 2 -extfile {0}/extensions -out {0}/{1}.pem",
                  folder_.path(), name));
}

bool Certificates::replace(const std::string& name, const std::string& with) const {
  std::error_code error;
  for (const auto& [from, to] :
       {std::pair(key(with), key(name)), std::pair(certificate(with), certificate(name))}) {
    std::filesystem::copy_file(from, to + ".new", std::filesystem::copy_options::overwrite_existing,
                               error);
    if (error) return false;
    std::filesystem::rename(to + ".new", to, error);
    if (error) return false;
  }
  return true;
}

}  // namespace vesta::server::testing
