#include "backends/redis/tls.hpp"

#include <array>
#include <utility>

#include "backends/redis/tls_library.hpp"

namespace holdfast::redis {
namespace {

using spi::Failure;
using spi::Nothing;
using spi::Result;

struct FreeContext {
  void operator()(SSL_CTX* context) const { TlsLibrary::load()->SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const { TlsLibrary::load()->SSL_free(session); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;
using Session = std::unique_ptr<SSL, FreeSession>;

Failure cannot_use(const std::string& what, const std::string& file) {
  return {Errc::bad_url, "cannot use the " + what + " in '" + file + "': it must be a readable file in PEM form"};
}

Result<Context> make_context(const TlsLibrary& library, const Address::Tls& tls) {
  Context context(library.SSL_CTX_new(library.TLS_client_method()));
  if (!context) return Failure{Errc::exhausted, "no memory left for TLS"};
  library.SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  if (tls.authorities_file.empty()) {
    library.SSL_CTX_set_default_verify_paths(context.get());
  } else if (library.SSL_CTX_load_verify_file(context.get(), tls.authorities_file.c_str()) != 1) {
    return cannot_use("trusted authorities", tls.authorities_file);
  }
  if (!tls.certificate_file.empty()) {
    if (library.SSL_CTX_use_certificate_chain_file(context.get(), tls.certificate_file.c_str()) != 1) {
      return cannot_use("client's certificate", tls.certificate_file);
    }
    if (library.SSL_CTX_use_PrivateKey_file(context.get(), tls.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
      return cannot_use("key of the client's certificate", tls.key_file);
    }
  }
  library.SSL_CTX_set_verify(context.get(), tls.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  return context;
}

/// What to do about a certificate that was not accepted; empty where nothing can be said.
std::string remedy_for(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return "; renew it on the server";
    case X509_V_ERR_CERT_NOT_YET_VALID: return "; is the clock of this host right?";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "; write a host that the certificate names, or have one issued for this host";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED: return "; give the authority that signed it as ?ca=file";
    default: return "";
  }
}

/// Whether the server's complaint is about our certificate, or may be: many servers just give up.
bool concerns_certificates(const std::string& text) {
  for (const char* const word : {"certificate", "unknown ca", "handshake failure", "access denied"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

class OpensslSession final : public TlsSession {
 public:
  OpensslSession(const TlsLibrary& library, const Address& address, Context context)
      : library_(library),
        address_(address),
        context_(std::move(context)),
        session_(library.SSL_new(context_.get())),
        from_wire_(library.BIO_new(library.BIO_s_mem())),
        to_wire_(library.BIO_new(library.BIO_s_mem())) {
    library_.SSL_set_bio(session_.get(), from_wire_, to_wire_);  // owns both from here on
    expect_host();
    library_.SSL_set_connect_state(session_.get());
    library_.SSL_do_handshake(session_.get());
    collect_outgoing();
  }

  Result<> received(std::string_view wire, std::string& plain) override {
    library_.BIO_write(from_wire_, wire.data(), static_cast<int>(wire.size()));
    if (!established_) {
      const int outcome = library_.SSL_do_handshake(session_.get());
      collect_outgoing();
      if (outcome != 1) return wants_more(outcome) ? Result<>(Nothing{}) : Result<>(why());
      established_ = true;
    }
    std::array<char, 16384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): about to be written
    for (;;) {
      const int count = library_.SSL_read(session_.get(), buffer.data(), static_cast<int>(buffer.size()));
      collect_outgoing();
      if (count <= 0) return wants_more(count) ? Result<>(Nothing{}) : Result<>(why());
      plain.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  Result<> send(std::string_view plain) override {
    while (!plain.empty()) {
      const std::size_t piece = std::min(plain.size(), std::size_t{1} << 20U);
      const int count = library_.SSL_write(session_.get(), plain.data(), static_cast<int>(piece));
      if (count <= 0) return why();
      plain.remove_prefix(static_cast<std::size_t>(count));
    }
    collect_outgoing();
    return Nothing{};
  }

  bool established() const override { return established_; }
  std::string& outgoing() override { return outgoing_; }

 private:
  void expect_host() {
    X509_VERIFY_PARAM* const expected = library_.SSL_get0_param(session_.get());
    if (library_.X509_VERIFY_PARAM_set1_ip_asc(expected, address_.host.c_str()) == 1) return;
    library_.ERR_clear_error();  // it is not a number
    library_.X509_VERIFY_PARAM_set1_host(expected, address_.host.c_str(), 0);
    library_.SSL_ctrl(session_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                      const_cast<char*>(address_.host.c_str()));
  }

  bool wants_more(int outcome) const {
    const int error = library_.SSL_get_error(session_.get(), outcome);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  }

  void collect_outgoing() {
    std::array<char, 16384> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): about to be written
    for (;;) {
      const int count = library_.BIO_read(to_wire_, buffer.data(), static_cast<int>(buffer.size()));
      if (count <= 0) return;
      outgoing_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  /// What OpenSSL complains about.
  Failure why() const {
    const long verdict = library_.SSL_get_verify_result(session_.get());
    if (address_.tls.verify && verdict != X509_V_OK) {
      return {Errc::access_denied, "cannot trust the certificate of " + address_.shown() + ": " +
                                       library_.X509_verify_cert_error_string(verdict) + remedy_for(verdict)};
    }
    const char* const reason = library_.ERR_reason_error_string(library_.ERR_get_error());
    library_.ERR_clear_error();
    const std::string text = reason == nullptr ? "the connection was closed" : reason;
    if (!established_ && text.find("wrong version number") != std::string::npos) {
      return {Errc::store_failed, address_.shown() + " does not speak TLS at this port; write redis: or another port"};
    }
    if (text.find("protocol version") != std::string::npos || text.find("unsupported protocol") != std::string::npos) {
      return {Errc::store_failed, address_.shown() + " speaks TLS only in versions before 1.2, which are not safe; " +
                                      "let it speak 1.2 or newer"};
    }
    if (text.find("alert") != std::string::npos || text.find("certificate required") != std::string::npos) {
      return {Errc::access_denied,
              address_.shown() + " refused the TLS connection: " + text +
                  (concerns_certificates(text) ? "; it may want a client's certificate (?cert=file&key=file)" : "")};
    }
    return {Errc::unreachable, "the TLS connection to " + address_.shown() + " failed: " + text};
  }

  const TlsLibrary& library_;
  const Address& address_;
  const Context context_;
  const Session session_;
  BIO* const from_wire_;
  BIO* const to_wire_;
  std::string outgoing_;
  bool established_ = false;
};

}  // namespace

Result<std::unique_ptr<TlsSession>> TlsSession::begin(const Address& address) {
  const TlsLibrary* const library = TlsLibrary::load();
  if (library == nullptr) {
    return Failure{Errc::unsupported, "rediss: needs OpenSSL's shared library, which cannot be loaded; install libssl" +
                                          std::to_string(OPENSSL_VERSION_MAJOR)};
  }
  library->ERR_clear_error();
  Result<Context> context = make_context(*library, address.tls);
  library->ERR_clear_error();
  if (!context.ok()) return std::move(context.failure());
  return std::unique_ptr<TlsSession>(std::make_unique<OpensslSession>(*library, address, std::move(context.value())));
}

}  // namespace holdfast::redis
