#include "backends/redis/connection/tls_library.hpp"

#include <dlfcn.h>
#include <openssl/opensslv.h>

#include <optional>
#include <string>

namespace holdfast::redis {
namespace {

/// Whether all functions were found so far.
class Finder {
 public:
  explicit Finder(void* library) : library_(library), complete_(library != nullptr) {}

  template <class Function>
  void find(const char* name, Function& function) {
    if (!complete_) return;
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    complete_ = function != nullptr;
  }

  bool complete() const { return complete_; }

 private:
  void* library_;
  bool complete_;
};

std::optional<TlsLibrary> load_library() {
  // The major version whose headers we were compiled with. Its functions are found through libssl, which brings
  // libcrypto along.
  const std::string name = "libssl.so." + std::to_string(OPENSSL_VERSION_MAJOR);
  Finder finder(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
  TlsLibrary found = {};
  finder.find("BIO_free", found.BIO_free);
  finder.find("BIO_new", found.BIO_new);
  finder.find("BIO_read", found.BIO_read);
  finder.find("BIO_s_mem", found.BIO_s_mem);
  finder.find("BIO_write", found.BIO_write);
  finder.find("ERR_clear_error", found.ERR_clear_error);
  finder.find("ERR_get_error", found.ERR_get_error);
  finder.find("ERR_reason_error_string", found.ERR_reason_error_string);
  finder.find("SSL_CTX_ctrl", found.SSL_CTX_ctrl);
  finder.find("SSL_CTX_free", found.SSL_CTX_free);
  finder.find("SSL_CTX_load_verify_file", found.SSL_CTX_load_verify_file);
  finder.find("SSL_CTX_new", found.SSL_CTX_new);
  finder.find("SSL_CTX_set_default_verify_paths", found.SSL_CTX_set_default_verify_paths);
  finder.find("SSL_CTX_set_options", found.SSL_CTX_set_options);
  finder.find("SSL_CTX_set_verify", found.SSL_CTX_set_verify);
  finder.find("SSL_CTX_use_PrivateKey_file", found.SSL_CTX_use_PrivateKey_file);
  finder.find("SSL_CTX_use_certificate_chain_file", found.SSL_CTX_use_certificate_chain_file);
  finder.find("SSL_ctrl", found.SSL_ctrl);
  finder.find("SSL_do_handshake", found.SSL_do_handshake);
  finder.find("SSL_free", found.SSL_free);
  finder.find("SSL_get0_param", found.SSL_get0_param);
  finder.find("SSL_get_error", found.SSL_get_error);
  finder.find("SSL_get_verify_result", found.SSL_get_verify_result);
  finder.find("SSL_new", found.SSL_new);
  finder.find("SSL_read", found.SSL_read);
  finder.find("SSL_set_bio", found.SSL_set_bio);
  finder.find("SSL_set_connect_state", found.SSL_set_connect_state);
  finder.find("SSL_write", found.SSL_write);
  finder.find("TLS_client_method", found.TLS_client_method);
  finder.find("X509_VERIFY_PARAM_set1_host", found.X509_VERIFY_PARAM_set1_host);
  finder.find("X509_VERIFY_PARAM_set1_ip_asc", found.X509_VERIFY_PARAM_set1_ip_asc);
  finder.find("X509_get_default_cert_dir", found.X509_get_default_cert_dir);
  finder.find("X509_get_default_cert_dir_env", found.X509_get_default_cert_dir_env);
  finder.find("X509_get_default_cert_file", found.X509_get_default_cert_file);
  finder.find("X509_get_default_cert_file_env", found.X509_get_default_cert_file_env);
  finder.find("X509_verify_cert_error_string", found.X509_verify_cert_error_string);
  if (!finder.complete()) return std::nullopt;
  return found;
}

}  // namespace

const TlsLibrary* TlsLibrary::load() {
  static const std::optional<TlsLibrary> library = load_library();
  return library ? &*library : nullptr;
}

}  // namespace holdfast::redis
