#include "backends/etcd/preparations.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "backends/etcd/module.hpp"
#include "holdfast/error.hpp"

namespace holdfast::etcd {

using spi::Failure;
using spi::Result;

namespace {

Result<std::string> contents_of(const std::string& file, const std::string& what) {
  std::string text;
  try {
    std::ifstream stream(file, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(stream), {});
  } catch (const std::ios_base::failure&) {
    text.clear();  // a directory can be opened but not read
  }
  if (text.find("-----BEGIN") == std::string::npos) {
    return Failure{Errc::bad_url,
                   "cannot use the " + what + " in '" + file + "': it must be a readable file in PEM format"};
  }
  return text;
}

Result<WireTls> contents_of(const kit::TlsFiles& files) {
  // gRPC comes with its own authorities, but people expect those that the system trusts.
  constexpr const char* authorities_of_the_system = "/etc/ssl/certs/ca-certificates.crt";
  WireTls tls;
  const bool of_the_system = files.authorities_file.empty();
  auto authorities =
      contents_of(of_the_system ? authorities_of_the_system : files.authorities_file, "trusted authorities");
  if (authorities.ok()) {
    tls.authorities = std::move(authorities.value());
  } else if (!of_the_system) {
    return std::move(authorities.failure());
  }
  if (!files.certificate_file.empty()) {
    auto certificate = contents_of(files.certificate_file, "client certificate");
    if (!certificate.ok()) return std::move(certificate.failure());
    auto key = contents_of(files.key_file, "key of the client certificate");
    if (!key.ok()) return std::move(key.failure());
    tls.certificate = std::move(certificate.value());
    tls.key = std::move(key.value());
  }
  return tls;
}

}  // namespace

Result<Preparations> Preparations::made_from(const std::optional<kit::TlsFiles>& files) {
  Preparations all;
  try {
    all.make_wire = load_module();
  } catch (const Error& error) {
    return Failure{error.errc(), error.what()};
  }
  if (files) {
    auto tls = contents_of(*files);
    if (!tls.ok()) return std::move(tls.failure());
    all.tls = std::move(tls.value());
  }
  return all;
}

}  // namespace holdfast::etcd
