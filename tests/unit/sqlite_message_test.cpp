#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "backends/sqlite/message.hpp"
#include "holdfast/name.hpp"
#include "spi/part_name.hpp"

namespace holdfast::sqlite {
namespace {

const Message example = {.kind = Message::Kind::granted,
                         .name = "invoices/2024",
                         .id = {.high = 0x0123456789abcdef, .low = UINT64_MAX},
                         .number = (std::int64_t{1} << 56) - 1,
                         .lease = spi::milliseconds(30'000)};

void expect_equal(const Message& decoded, const Message& sent) {
  EXPECT_EQ(decoded.kind, sent.kind);
  EXPECT_EQ(decoded.name, sent.name);
  EXPECT_EQ(decoded.id, sent.id);
  EXPECT_EQ(decoded.number, sent.number);
  EXPECT_EQ(decoded.lease, sent.lease);
}

TEST(SqliteMessage, ArrivesAsItWasSent) {
  for (const auto kind : {Message::Kind::granted, Message::Kind::check, Message::Kind::changed}) {
    const LockName longest = std::string(LockName::max_bytes, 'x');
    const std::string part = spi::PartName::of(longest, std::string(spi::PartName::max_part_bytes, 'p')).text();
    for (const std::string& name : {std::string("n"), longest.text(), part, std::string()}) {
      Message message = example;
      message.kind = kind;
      message.name = name;
      const std::string bytes = message.encoded();
      EXPECT_LE(bytes.size(), Message::max_bytes);
      const auto decoded = Message::decode(bytes);
      ASSERT_TRUE(decoded);
      expect_equal(*decoded, message);
    }
  }
}

TEST(SqliteMessage, IsNotReadFromAPart) {
  const std::string bytes = example.encoded();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Message::decode(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(Message::decode(bytes + "x")) << "nor from more than one";
}

TEST(SqliteMessage, IsNotReadFromAnotherVersion) {
  std::string bytes = example.encoded();
  for (const int version : {0, 1, 3, 255}) {
    bytes[0] = static_cast<char>(version);
    EXPECT_FALSE(Message::decode(bytes)) << version;
  }
}

TEST(SqliteMessage, IsNotReadIfItsKindIsUnknown) {
  std::string bytes = example.encoded();
  for (const int kind : {0, 4, 255}) {
    bytes[1] = static_cast<char>(kind);
    EXPECT_FALSE(Message::decode(bytes)) << kind;
  }
}

TEST(SqliteMessage, IsNotReadFromGarbage) {
  std::mt19937 random(7);
  const std::string bytes = example.encoded();
  for (int i = 0; i < 20'000; ++i) {
    std::string garbage(random() % 200, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    EXPECT_FALSE(Message::decode(garbage));
    // Almost right: whatever is read could have been sent.
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (const auto decoded = Message::decode(damaged)) {
      EXPECT_EQ(decoded->encoded().size(), damaged.size());
    }
  }
}

}  // namespace
}  // namespace holdfast::sqlite
