#include "backends/redis/connection/tls_library.hpp"

#include <openssl/opensslv.h>

#include <optional>
#include <string>

#include "kit/shared_library.hpp"

namespace holdfast::redis {
namespace {

std::optional<TlsLibrary> load_library() {
  // The major version whose headers we were compiled with. Its functions are found through libssl, which brings
  // libcrypto along.
  const auto library = kit::SharedLibrary::load({"libssl.so." + std::to_string(OPENSSL_VERSION_MAJOR)});
  if (!library) return std::nullopt;
  TlsLibrary found = {};
  bool complete = true;
  const auto find = [&](const char* name, auto& function) { complete = library->find(name, function) && complete; };
  find("BIO_free", found.BIO_free);
  find("BIO_new", found.BIO_new);
  find("BIO_read", found.BIO_read);
  find("BIO_s_mem", found.BIO_s_mem);
  find("BIO_write", found.BIO_write);
  find("ERR_clear_error", found.ERR_clear_error);
  find("ERR_get_error", found.ERR_get_error);
  find("ERR_reason_error_string", found.ERR_reason_error_string);
  find("SSL_CTX_ctrl", found.SSL_CTX_ctrl);
  find("SSL_CTX_free", found.SSL_CTX_free);
  find("SSL_CTX_load_verify_file", found.SSL_CTX_load_verify_file);
  find("SSL_CTX_new", found.SSL_CTX_new);
  find("SSL_CTX_set_default_verify_paths", found.SSL_CTX_set_default_verify_paths);
  find("SSL_CTX_set_options", found.SSL_CTX_set_options);
  find("SSL_CTX_set_verify", found.SSL_CTX_set_verify);
  find("SSL_CTX_use_PrivateKey_file", found.SSL_CTX_use_PrivateKey_file);
  find("SSL_CTX_use_certificate_chain_file", found.SSL_CTX_use_certificate_chain_file);
  find("SSL_ctrl", found.SSL_ctrl);
  find("SSL_do_handshake", found.SSL_do_handshake);
  find("SSL_free", found.SSL_free);
  find("SSL_get0_param", found.SSL_get0_param);
  find("SSL_get_error", found.SSL_get_error);
  find("SSL_get_verify_result", found.SSL_get_verify_result);
  find("SSL_new", found.SSL_new);
  find("SSL_read", found.SSL_read);
  find("SSL_set_bio", found.SSL_set_bio);
  find("SSL_set_connect_state", found.SSL_set_connect_state);
  find("SSL_write", found.SSL_write);
  find("TLS_client_method", found.TLS_client_method);
  find("X509_VERIFY_PARAM_set1_host", found.X509_VERIFY_PARAM_set1_host);
  find("X509_VERIFY_PARAM_set1_ip_asc", found.X509_VERIFY_PARAM_set1_ip_asc);
  find("X509_get_default_cert_dir", found.X509_get_default_cert_dir);
  find("X509_get_default_cert_dir_env", found.X509_get_default_cert_dir_env);
  find("X509_get_default_cert_file", found.X509_get_default_cert_file);
  find("X509_get_default_cert_file_env", found.X509_get_default_cert_file_env);
  find("X509_verify_cert_error_string", found.X509_verify_cert_error_string);
  if (!complete) return std::nullopt;
  return found;
}

}  // namespace

const TlsLibrary* TlsLibrary::load() {
  static const std::optional<TlsLibrary> library = load_library();
  return library ? &*library : nullptr;
}

}  // namespace holdfast::redis
