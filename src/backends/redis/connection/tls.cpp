#include "backends/redis/connection/tls.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

#include "backends/redis/connection/tls_library.hpp"

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
struct FreeBuffer {
  void operator()(BIO* buffer) const { TlsLibrary::load()->BIO_free(buffer); }
};
using Settings = std::unique_ptr<SSL_CTX, FreeContext>;
using Session = std::unique_ptr<SSL, FreeSession>;
using Buffer = std::unique_ptr<BIO, FreeBuffer>;

Failure no_memory() { return {Errc::exhausted, "no memory left for TLS"}; }

Failure cannot_use(const std::string& what, const std::string& file) {
  return {Errc::bad_url, "cannot use the " + what + " in '" + file + "': it must be a readable file in PEM form"};
}

// --- which files, and whether they have changed ---------------------------------------------------------------------

/// What tells one content of a file from the next one. All zero for a file that is not there.
struct Stamp {
  dev_t device = 0;
  ino_t file = 0;
  off_t size = 0;
  std::int64_t modified = 0;  ///< in ns
  std::int64_t changed = 0;   ///< in ns

  static Stamp of(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return {};
    const auto nanoseconds = [](const timespec& time) {
      return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
    };
    return {status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
  }
  bool operator==(const Stamp&) const = default;
};

/// Where OpenSSL finds the system's authorities.
std::string system_path(const char* variable, const char* usual) {
  const char* const value = ::secure_getenv(variable);
  return value != nullptr ? value : usual;
}

std::vector<Stamp> stamps_of(const TlsLibrary& library, const ServerAddress::Tls& tls) {
  std::vector<Stamp> stamps;
  if (tls.files.authorities_file.empty()) {
    stamps.push_back(
        Stamp::of(system_path(library.X509_get_default_cert_file_env(), library.X509_get_default_cert_file())));
    stamps.push_back(
        Stamp::of(system_path(library.X509_get_default_cert_dir_env(), library.X509_get_default_cert_dir())));
  } else {
    stamps.push_back(Stamp::of(tls.files.authorities_file));
  }
  if (!tls.files.certificate_file.empty()) {
    stamps.push_back(Stamp::of(tls.files.certificate_file));
    stamps.push_back(Stamp::of(tls.files.key_file));
  }
  return stamps;
}

/// The server cannot make us negotiate again: nothing of ours needs it, and it is one thing less that can be abused.
Result<Settings> make_settings(const TlsLibrary& library, const ServerAddress::Tls& tls) {
  Settings settings(library.SSL_CTX_new(library.TLS_client_method()));
  if (!settings) return no_memory();
  if (library.SSL_CTX_ctrl(settings.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr) != 1) {
    return Failure{Errc::unsupported, "rediss: needs an OpenSSL that speaks TLS 1.2 or newer"};
  }
  library.SSL_CTX_set_options(settings.get(), SSL_OP_NO_RENEGOTIATION);
  if (tls.files.authorities_file.empty()) {
    if (library.SSL_CTX_set_default_verify_paths(settings.get()) != 1) return no_memory();
  } else if (library.SSL_CTX_load_verify_file(settings.get(), tls.files.authorities_file.c_str()) != 1) {
    return cannot_use("trusted authorities", tls.files.authorities_file);
  }
  if (!tls.files.certificate_file.empty()) {
    if (library.SSL_CTX_use_certificate_chain_file(settings.get(), tls.files.certificate_file.c_str()) != 1) {
      return cannot_use("client's certificate", tls.files.certificate_file);
    }
    if (library.SSL_CTX_use_PrivateKey_file(settings.get(), tls.files.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
      return cannot_use("key of the client's certificate", tls.files.key_file);
    }
  }
  library.SSL_CTX_set_verify(settings.get(), tls.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  return settings;
}

// --- a session ------------------------------------------------------------------------------------------------------

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
  /// `address` belongs to `context`.
  static Result<std::unique_ptr<TlsSession>> begin(const TlsLibrary& library, const ServerAddress& address,
                                                   SSL_CTX* settings, TlsContext::Pointer context) {
    library.ERR_clear_error();
    Session session(library.SSL_new(settings));
    Buffer from_wire(library.BIO_new(library.BIO_s_mem()));
    Buffer to_wire(library.BIO_new(library.BIO_s_mem()));
    if (!session || !from_wire || !to_wire) return no_memory();
    auto begun = std::make_unique<OpensslSession>(library, address, std::move(context), std::move(session),
                                                  std::move(from_wire), std::move(to_wire));
    if (!begun->expect_host()) return no_memory();
    const Result<> greeted = begun->greet();
    if (!greeted.ok()) return greeted.failure();
    return std::unique_ptr<TlsSession>(std::move(begun));
  }

  OpensslSession(const TlsLibrary& library, const ServerAddress& address, TlsContext::Pointer context, Session session,
                 Buffer from_wire, Buffer to_wire)
      : library_(library),
        address_(address),
        context_(std::move(context)),
        session_(std::move(session)),
        from_wire_(from_wire.get()),
        to_wire_(to_wire.get()) {
    library_.SSL_set_bio(session_.get(), from_wire.release(), to_wire.release());  // owns both from here on
    library_.SSL_set_connect_state(session_.get());
  }

  Result<> received(std::string_view wire, std::string& plain) override {
    library_.ERR_clear_error();  // what others left there is not ours
    if (!wire.empty()) {
      const int taken = library_.BIO_write(from_wire_, wire.data(), static_cast<int>(wire.size()));
      if (taken < 0 || static_cast<std::size_t>(taken) != wire.size()) return no_memory();
    }
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
    library_.ERR_clear_error();
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
  /// False: OpenSSL has no memory for it.
  bool expect_host() {
    X509_VERIFY_PARAM* const expected = library_.SSL_get0_param(session_.get());
    if (library_.X509_VERIFY_PARAM_set1_ip_asc(expected, address_.host.c_str()) == 1) return true;
    library_.ERR_clear_error();  // it is not a number
    return library_.X509_VERIFY_PARAM_set1_host(expected, address_.host.c_str(), 0) == 1 &&
           library_.SSL_ctrl(session_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                             const_cast<char*>(address_.host.c_str())) == 1;
  }

  Result<> greet() {
    const int outcome = library_.SSL_do_handshake(session_.get());
    collect_outgoing();
    return wants_more(outcome) ? Result<>(Nothing{}) : Result<>(why());
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
  const ServerAddress& address_;
  const TlsContext::Pointer context_;
  const Session session_;
  BIO* const from_wire_;
  BIO* const to_wire_;
  std::string outgoing_;
  bool established_ = false;
};

class OpensslContext final : public TlsContext, public std::enable_shared_from_this<OpensslContext> {
 public:
  OpensslContext(const TlsLibrary& library, ServerAddress address, std::vector<Stamp> stamps, Settings settings)
      : library_(library), address_(std::move(address)), stamps_(std::move(stamps)), settings_(std::move(settings)) {}

  Result<std::unique_ptr<TlsSession>> begin() const override {
    return OpensslSession::begin(library_, address_, settings_.get(), shared_from_this());
  }
  bool was_read_from(const std::vector<Stamp>& stamps) const { return stamps == stamps_; }

 private:
  const TlsLibrary& library_;
  const ServerAddress address_;
  const std::vector<Stamp> stamps_;  ///< of the files, from before they were read
  const Settings settings_;
};

}  // namespace

Result<TlsContext::Pointer> TlsContext::read(const ServerAddress& address, const Pointer& known) {
  const TlsLibrary* const library = TlsLibrary::load();
  if (library == nullptr) {
    return Failure{Errc::unsupported, "rediss: needs OpenSSL's shared library, which cannot be loaded; install libssl" +
                                          std::to_string(OPENSSL_VERSION_MAJOR)};
  }
  return read(*library, address, known);
}

Result<TlsContext::Pointer> TlsContext::read(const TlsLibrary& library, const ServerAddress& address,
                                             const Pointer& known) {
  std::vector<Stamp> stamps = stamps_of(library, address.tls);
  if (known && static_cast<const OpensslContext&>(*known).was_read_from(stamps)) return known;
  library.ERR_clear_error();
  Result<Settings> settings = make_settings(library, address.tls);
  library.ERR_clear_error();
  if (!settings.ok()) return std::move(settings.failure());
  return Pointer(std::make_shared<OpensslContext>(library, address, std::move(stamps), std::move(settings.value())));
}

}  // namespace holdfast::redis
