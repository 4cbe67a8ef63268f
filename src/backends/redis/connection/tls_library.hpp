#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace holdfast::redis {

/// OpenSSL's functions, found in its shared library (kit/shared_library.hpp) when the first rediss: URL is used.
struct TlsLibrary {
  // NOLINTBEGIN(readability-identifier-naming): OpenSSL's names
  decltype(&::BIO_free) BIO_free;
  decltype(&::BIO_new) BIO_new;
  decltype(&::BIO_read) BIO_read;
  decltype(&::BIO_s_mem) BIO_s_mem;
  decltype(&::BIO_write) BIO_write;
  decltype(&::ERR_clear_error) ERR_clear_error;
  decltype(&::ERR_get_error) ERR_get_error;
  decltype(&::ERR_reason_error_string) ERR_reason_error_string;
  decltype(&::SSL_CTX_ctrl) SSL_CTX_ctrl;
  decltype(&::SSL_CTX_free) SSL_CTX_free;
  decltype(&::SSL_CTX_load_verify_file) SSL_CTX_load_verify_file;
  decltype(&::SSL_CTX_new) SSL_CTX_new;
  decltype(&::SSL_CTX_set_default_verify_paths) SSL_CTX_set_default_verify_paths;
  decltype(&::SSL_CTX_set_options) SSL_CTX_set_options;
  decltype(&::SSL_CTX_set_verify) SSL_CTX_set_verify;
  decltype(&::SSL_CTX_use_PrivateKey_file) SSL_CTX_use_PrivateKey_file;
  decltype(&::SSL_CTX_use_certificate_chain_file) SSL_CTX_use_certificate_chain_file;
  decltype(&::SSL_ctrl) SSL_ctrl;
  decltype(&::SSL_do_handshake) SSL_do_handshake;
  decltype(&::SSL_free) SSL_free;
  decltype(&::SSL_get0_param) SSL_get0_param;
  decltype(&::SSL_get_error) SSL_get_error;
  decltype(&::SSL_get_verify_result) SSL_get_verify_result;
  decltype(&::SSL_new) SSL_new;
  decltype(&::SSL_read) SSL_read;
  decltype(&::SSL_set_bio) SSL_set_bio;
  decltype(&::SSL_set_connect_state) SSL_set_connect_state;
  decltype(&::SSL_write) SSL_write;
  decltype(&::TLS_client_method) TLS_client_method;
  decltype(&::X509_VERIFY_PARAM_set1_host) X509_VERIFY_PARAM_set1_host;
  decltype(&::X509_VERIFY_PARAM_set1_ip_asc) X509_VERIFY_PARAM_set1_ip_asc;
  decltype(&::X509_get_default_cert_dir) X509_get_default_cert_dir;
  decltype(&::X509_get_default_cert_dir_env) X509_get_default_cert_dir_env;
  decltype(&::X509_get_default_cert_file) X509_get_default_cert_file;
  decltype(&::X509_get_default_cert_file_env) X509_get_default_cert_file_env;
  decltype(&::X509_verify_cert_error_string) X509_verify_cert_error_string;
  // NOLINTEND(readability-identifier-naming)

  /// Null if it is not installed, or too old. Stays loaded.
  static const TlsLibrary* load();
};

}  // namespace holdfast::redis
