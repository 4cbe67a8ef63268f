#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "backends/redis/protocol/reply.hpp"

namespace holdfast::redis {
namespace {

using Kind = Reply::Kind;

TEST(RedisReply, ComesOneByOneInOrder) {
  ReplyReader reader;
  reader.feed("+OK\r\n:-42\r\n$5\r\nhello\r\n$-1\r\n-ERR no\r\n*2\r\n:1\r\n*1\r\n$1\r\nx\r\n");
  Reply* reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_TRUE(reply->is(Kind::status));
  EXPECT_EQ(reply->text, "OK");
  reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_TRUE(reply->is(Kind::integer));
  EXPECT_EQ(reply->integer, -42);
  reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_TRUE(reply->is(Kind::text));
  EXPECT_EQ(reply->text, "hello");
  reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_TRUE(reply->is(Kind::nothing));
  reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_TRUE(reply->is(Kind::error));
  EXPECT_EQ(reply->text, "ERR no");
  reply = reader.next();
  ASSERT_NE(reply, nullptr);
  ASSERT_TRUE(reply->is(Kind::array));
  ASSERT_EQ(reply->elements.size(), 2U);
  EXPECT_EQ(reply->elements[0].integer, 1);
  EXPECT_EQ(reply->elements[1].elements.at(0).text, "x");
  EXPECT_EQ(reader.next(), nullptr);
  EXPECT_FALSE(reader.failed());
}

TEST(RedisReply, HasNothingOfTheOneBefore) {
  ReplyReader reader;
  reader.feed("*1\r\n:7\r\n:8\r\n$1\r\nx\r\n+OK\r\n$-1\r\n");
  ASSERT_NE(reader.next(), nullptr);
  const Reply* reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_TRUE(reply->elements.empty());
  reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->integer, 0);
  ASSERT_NE(reader.next(), nullptr);
  reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->text, "");
}

TEST(RedisReply, MayComeInPieces) {
  ReplyReader reader;
  const std::string whole = "*2\r\n$3\r\nabc\r\n:7\r\n";
  for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
    reader.feed(whole.substr(i, 1));
    ASSERT_EQ(reader.next(), nullptr) << i;
  }
  reader.feed(whole.substr(whole.size() - 1));
  const Reply* const reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->elements.at(0).text, "abc");
  EXPECT_EQ(reply->elements.at(1).integer, 7);
}

TEST(RedisReply, IsNotBelievedIfItAnnouncesTooMuch) {
  const std::string many = std::to_string(ReplyReader::max_elements + 1);
  const std::string large = std::to_string(ReplyReader::max_text_bytes + 1);
  for (const std::string bytes : {"*2147483647\r\n", "*-7\r\n", "$2147483647\r\n", "$1073741824\r\nabc",
                                  "*99999999999999999999\r\n", "$99999999999999999999\r\n"}) {
    ReplyReader reader;
    reader.feed(bytes);
    EXPECT_EQ(reader.next(), nullptr) << bytes;
    EXPECT_TRUE(reader.failed()) << bytes;
  }
  for (const std::string& bytes : {"*" + many + "\r\n", "$" + large + "\r\n", "*3\r\n:1\r\n$" + large + "\r\n"}) {
    ReplyReader reader;
    reader.feed(bytes);
    EXPECT_EQ(reader.next(), nullptr) << bytes;
    EXPECT_TRUE(reader.failed()) << bytes;
  }
}

/// A line is looked at anew with each piece of it that comes: a long one would keep the reader busy, not just waiting.
TEST(RedisReply, IsNotBelievedIfALineHasNoEnd) {
  for (const std::string beginning : {"-ERR ", "+", ":", "*", "$", "$x", "*2\r\n:1\r\n-ERR "}) {
    ReplyReader reader;
    reader.feed(beginning);
    std::size_t fed = 0;
    const std::string piece(16 * 1024, 'x');
    while (!reader.failed() && fed < std::size_t{1} << 20U) {
      reader.feed(piece);
      fed += piece.size();
      EXPECT_EQ(reader.next(), nullptr);
    }
    EXPECT_TRUE(reader.failed()) << beginning;
    EXPECT_LE(fed, ReplyReader::max_line_bytes + 2 * piece.size()) << beginning;
  }
}

TEST(RedisReply, MayBeALongTextInPieces) {
  ReplyReader reader;
  const std::string text(std::size_t{1} << 20U, 'x');
  const std::string bytes = "*2\r\n:1\r\n$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  const Reply* reply = nullptr;
  for (std::size_t i = 0; i < bytes.size(); i += 16 * 1024) {
    EXPECT_EQ(reply, nullptr);
    reader.feed(std::string_view(bytes).substr(i, 16 * 1024));
    reply = reader.next();
    ASSERT_FALSE(reader.failed());
  }
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->elements.at(1).text, text);
}

TEST(RedisReply, IsNotBelievedIfManySmallArraysAreTooMuchTogether) {
  ReplyReader reader;
  const std::string half = std::to_string(ReplyReader::max_elements / 2);
  reader.feed("*" + half + "\r\n*" + half + "\r\n*1\r\n");
  EXPECT_EQ(reader.next(), nullptr);
  EXPECT_TRUE(reader.failed());
}

TEST(RedisReply, IsNotBelievedIfManyTextsAreTooMuchTogether) {
  ReplyReader reader;
  const std::string text = "$" + std::to_string(ReplyReader::max_text_bytes) + "\r\n" +
                           std::string(ReplyReader::max_text_bytes, 'x') + "\r\n";
  reader.feed("*1000\r\n");
  std::size_t fed = 0;
  while (!reader.failed() && fed < 2 * ReplyReader::max_reply_bytes) {
    reader.feed(text);
    fed += text.size();
    EXPECT_EQ(reader.next(), nullptr);
  }
  EXPECT_LE(fed, ReplyReader::max_reply_bytes + text.size());
}

TEST(RedisReply, IsNotBelievedIfItIsTooDeep) {
  const auto nested = [](std::size_t depth) {
    std::string bytes;
    for (std::size_t i = 0; i < depth; ++i) bytes += "*1\r\n";
    return bytes + ":7\r\n";
  };
  ReplyReader reader;
  reader.feed(nested(ReplyReader::max_depth));
  EXPECT_NE(reader.next(), nullptr);
  reader.feed(nested(ReplyReader::max_depth + 1));
  EXPECT_EQ(reader.next(), nullptr);
  EXPECT_TRUE(reader.failed());
}

TEST(RedisReply, IsNoReplyIfALengthOrANumberIsWrong) {
  for (const std::string bytes : {"$3\r\nabcd\r\n", "$3\r\nabc\rx", ":\r\n", ":1x\r\n", ": 1\r\n", "$-2\r\n",
                                  "$1 \r\nx\r\n", "*x\r\n", ":99999999999999999999\r\n"}) {
    ReplyReader reader;
    reader.feed(bytes);
    EXPECT_EQ(reader.next(), nullptr) << bytes;
    EXPECT_TRUE(reader.failed()) << bytes;
  }
}

TEST(RedisReply, MayHaveEmptyParts) {
  ReplyReader reader;
  reader.feed("*3\r\n*0\r\n$0\r\n\r\n*-1\r\n+\r\n");
  const Reply* reply = reader.next();
  ASSERT_NE(reply, nullptr);
  ASSERT_EQ(reply->elements.size(), 3U);
  EXPECT_TRUE(reply->elements[0].is(Kind::array));
  EXPECT_TRUE(reply->elements[1].is(Kind::text));
  EXPECT_TRUE(reply->elements[2].is(Kind::nothing));
  reply = reader.next();
  ASSERT_NE(reply, nullptr);
  EXPECT_TRUE(reply->is(Kind::status));
}

TEST(RedisReply, MayBeAsLargeAsTheLimitsAgainAndAgain) {
  ReplyReader reader;
  std::string bytes = "*1000\r\n";
  for (int i = 0; i < 1000; ++i) bytes += ":1\r\n";
  for (std::size_t round = 0; round < 2 * ReplyReader::max_elements / 1000; ++round) {
    reader.feed(bytes);
    const Reply* const reply = reader.next();
    ASSERT_NE(reply, nullptr) << round;
    ASSERT_EQ(reply->elements.size(), 1000U);
  }
}

TEST(RedisReply, IsNoReplyIfItIsSomethingElse) {
  for (const std::string bytes :
       {"HTTP/1.1 400 Bad Request\r\n\r\n", "\x15\x03\x01\x00\x02\x02\x50", "SSH-2.0-x\r\n"}) {
    ReplyReader reader;
    reader.feed(bytes);
    EXPECT_EQ(reader.next(), nullptr);
    EXPECT_TRUE(reader.failed()) << bytes;
    reader.feed("+OK\r\n");
    EXPECT_EQ(reader.next(), nullptr) << "never again";
  }
}

/// Whatever comes, it neither crashes nor takes more than it may.
TEST(RedisReply, SurvivesNonsense) {
  std::mt19937 random(7);
  const std::string letters = "*$:+-\r\n0123456789abc";
  for (int round = 0; round < 20000; ++round) {
    ReplyReader reader;
    for (int piece = 0; piece < 3; ++piece) {
      std::string bytes;
      for (auto length = random() % 24; length > 0; --length) bytes += letters[random() % letters.size()];
      reader.feed(bytes);
      for (int replies = 0; replies < 100 && reader.next() != nullptr; ++replies) {
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::redis
