#include <algorithm>
#include <string>

#include "backends/etcd/address.hpp"
#include "backends/redis/redis_url.hpp"
#include "backends/zookeeper/address.hpp"
#include "base/url.hpp"
#include "fuzz/targets.hpp"
#include "holdfast/error.hpp"
#include "holdfast/name.hpp"
#include "spi/part_name.hpp"

// What users write.

namespace holdfast::fuzz {
namespace {

/// Whether it decodes as UTF-8, found in another way than LockName does: by the code points.
bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at++]);
    if (lead < 0x80) continue;
    const unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc0 || lead > 0xf7 || text.size() - at < more) return false;
    char32_t point = lead & (0x3fU >> more);
    for (unsigned i = 0; i < more; ++i, ++at) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if ((byte & 0xc0U) != 0x80) return false;
      point = point << 6U | (byte & 0x3fU);
    }
    const char32_t smallest = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
    if (point < smallest || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
  }
  return true;
}

/// A password that nobody could take for something else that is shown.
constexpr std::string_view secret = "hunter2hunter2";

const redis::ServerAddress& server_of(const redis::RedisUrl& url) { return url.server; }
const auto& server_of(const auto& address) { return address; }

template <class Parsed>
void try_address(const base::Url& url) {
  try {
    const Parsed parsed = Parsed::parse(url);
    const auto& address = server_of(parsed);
    const bool only_a_password = address.password.find(secret) != std::string::npos &&
                                 address.user.find(secret) == std::string::npos &&
                                 std::count(url.rest.begin(), url.rest.end(), '@') == 1;
    if (!only_a_password) return;
    const auto host = url.rest.substr(url.rest.find('@'));
    if (host.find(secret) != std::string::npos) return;
    require(address.shown().find(secret) == std::string::npos, "a password is never shown");
  } catch (const Error& error) {
    require(error.errc() == Errc::bad_url, "a URL that is refused is a bad URL");
    require(std::string_view(error.what()).find(secret) == std::string_view::npos, "a message repeats no password");
  }
}

}  // namespace

void lock_name(std::string_view input) {
  const bool good = !input.empty() && input.size() <= LockName::max_bytes && is_utf8(input) &&
                    input.find('\0') == std::string_view::npos;
  try {
    const LockName name(input);
    require(good, "a name is UTF-8 without NUL, and not too long");
    require(name.text() == input, "a name is what was given");
    const LockName part = spi::PartName::of(name, "part");
    const auto split = spi::PartName::split(part.text());
    require(split.name == input && split.part == "part", "a part's name falls into its parts");
  } catch (const Error& error) {
    require(!good && error.errc() == Errc::invalid_argument, "only a bad name is refused");
  }
}

void store_url(std::string_view input) {
  base::Url url;
  try {
    url = base::Url::parse(input);
  } catch (const Error& error) {
    require(error.errc() == Errc::bad_url, "a URL that is refused is a bad URL");
    return;
  }
  try_address<redis::RedisUrl>(url);
  try_address<etcd::Address>(url);
  try_address<zookeeper::Address>(url);
  try {
    const std::string path = base::decode_path(url.rest);
    require(path.size() <= url.rest.size() && path.find('\0') == std::string::npos, "a path can be opened");
  } catch (const Error& error) {
    require(error.errc() == Errc::bad_url, "a URL that is refused is a bad URL");
  }
}

}  // namespace holdfast::fuzz
