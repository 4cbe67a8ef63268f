#include "cli/top/keys.hpp"

#include <gmock/gmock.h>

namespace holdfast::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Key character(const std::string& text) { return {.kind = Key::Kind::character, .text = text}; }
Key special(Key::Kind kind) { return {.kind = kind}; }

TEST(Keys, AreCharacters) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.feed("q/ü☃"), ElementsAre(character("q"), character("/"), character("ü"), character("☃")));
  EXPECT_FALSE(decoder.undecided());
}

TEST(Keys, AreControls) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.feed("\r\n\x7f\b\x03\x1a\x0c\x01"),
              ElementsAre(special(Key::Kind::enter), special(Key::Kind::enter), special(Key::Kind::backspace),
                          special(Key::Kind::backspace), special(Key::Kind::interrupt), special(Key::Kind::stop),
                          special(Key::Kind::redraw), special(Key::Kind::unknown)));
}

TEST(Keys, AreSequences) {
  const std::vector<std::pair<std::string, Key::Kind>> sequences{
      {"\x1b[A", Key::Kind::up},        {"\x1b[B", Key::Kind::down},         {"\x1bOA", Key::Kind::up},
      {"\x1bOB", Key::Kind::down},      {"\x1b[5~", Key::Kind::page_up},     {"\x1b[6~", Key::Kind::page_down},
      {"\x1b[H", Key::Kind::home},      {"\x1b[F", Key::Kind::end},          {"\x1b[1~", Key::Kind::home},
      {"\x1b[4~", Key::Kind::end},      {"\x1b[7~", Key::Kind::home},        {"\x1b[8~", Key::Kind::end},
      {"\x1b[1;5A", Key::Kind::up},     {"\x1b[6;2~", Key::Kind::page_down}, {"\x1bOP", Key::Kind::unknown},
      {"\x1b[200~", Key::Kind::unknown}};
  for (const auto& [bytes, kind] : sequences) {
    KeyDecoder decoder;
    EXPECT_THAT(decoder.feed(bytes), ElementsAre(special(kind))) << bytes.substr(1);
    EXPECT_FALSE(decoder.undecided());
  }
}

TEST(Keys, MayArriveByteByByte) {
  for (const std::string bytes : {"\x1b[A", "\x1bOA", "\x1b[1;5A", "☃"}) {
    KeyDecoder decoder;
    for (const char byte : bytes.substr(0, bytes.size() - 1)) {
      EXPECT_THAT(decoder.feed({&byte, 1}), IsEmpty());
      EXPECT_TRUE(decoder.undecided());
    }
    EXPECT_THAT(decoder.feed(bytes.substr(bytes.size() - 1)),
                ElementsAre(bytes == "☃" ? character("☃") : special(Key::Kind::up)));
    EXPECT_FALSE(decoder.undecided());
  }
}

TEST(Keys, EscapeIsOneWhenNothingFollows) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.feed("\x1b"), IsEmpty());
  EXPECT_TRUE(decoder.undecided());
  EXPECT_THAT(decoder.settle(), ElementsAre(special(Key::Kind::escape)));
  EXPECT_FALSE(decoder.undecided());
}

TEST(Keys, EscapeIsOneWhenAnotherKeyFollows) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.feed("\x1bq"), ElementsAre(special(Key::Kind::escape), character("q")));
  EXPECT_THAT(decoder.feed("\x1b\x1b[A"), ElementsAre(special(Key::Kind::escape), special(Key::Kind::up)));
}

TEST(Keys, BegunButNeverFinishedAreNotKept) {
  KeyDecoder decoder;
  decoder.feed("\x1b[");
  EXPECT_THAT(decoder.settle(), ElementsAre(special(Key::Kind::escape), character("[")));
  decoder.feed("\xe2\x98");
  EXPECT_THAT(decoder.settle(), IsEmpty());
  EXPECT_FALSE(decoder.undecided());
  EXPECT_THAT(decoder.settle(), IsEmpty());
}

TEST(Keys, OfAnUnknownKindDoNotSpoilTheNext) {
  KeyDecoder decoder;
  EXPECT_THAT(decoder.feed("\x1b[?1;2cq\x80q"),
              ElementsAre(special(Key::Kind::unknown), character("q"), special(Key::Kind::unknown), character("q")));
}

}  // namespace
}  // namespace holdfast::cli
