#include "redis/certificates.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace holdfast::redis_suite {

Certificates::Certificates() {
  run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.crt -days 2 "
      "-subj '/CN=an authority of a test'");
}

void Certificates::issue(const std::string& owner, const std::string& names, int days) const {
  std::ofstream(file(owner + ".ext")) << "subjectAltName=" << names << '\n';
  run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + owner + ".key -out " + owner +
      ".csr -subj /CN=" + owner);
  run("openssl x509 -req -in " + owner + ".csr -CA ca.crt -CAkey ca.key -CAcreateserial -out " + owner +
      ".crt -extfile " + owner + ".ext -days " + std::to_string(days));
}

void Certificates::run(const std::string& command) const {
  const std::string whole = "cd '" + directory_.path().string() + "' && " + command + " >log 2>&1";
  if (std::system(whole.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

}  // namespace holdfast::redis_suite
