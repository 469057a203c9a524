// What a hostile command line, environment or disk does to the program: one clean line, the exit code, and
// nothing left behind.
#include <sys/resource.h>

#include "app/npy.h"
#include "app/printable.h"
#include "tests/cli_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

/// One line on stderr, without control characters, that holds all of `parts`.
::testing::AssertionResult clean_line_with(const Outcome& outcome, const std::vector<std::string>& parts) {
  if (outcome.err.empty() || outcome.err.back() != '\n')
    return ::testing::AssertionFailure() << "no line: " << outcome.err;
  const std::string line = outcome.err.substr(0, outcome.err.size() - 1);
  for (const char c : line) {
    if (static_cast<unsigned char>(c) < 0x20)
      return ::testing::AssertionFailure() << "control character " << static_cast<int>(c) << " in: " << line;
  }
  return one_line_with(line, parts);
}

TEST(Printable, ControlCharactersBecomeEscapesAndNothingElse) {
  const std::pair<std::string, std::string> table[] = {{"", ""},
                                                       {"plain /x y.png", "plain /x y.png"},
                                                       {"a\nb\tc", "a\\nb\\tc"},
                                                       {"\x1b[31m", "\\x1b[31m"},
                                                       {std::string("\0\x7f\r", 3), "\\x00\\x7f\\x0d"},
                                                       {"\xc3\xbc\xff", "\xc3\xbc\xff"}};
  for (const auto& [text, expected] : table) EXPECT_EQ(printable(text), expected);
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abcdef...");
  EXPECT_EQ(shortened("abc\xc3\xbcxyz", 4), "abc...") << "cut within a character";
}

TEST_F(Cli, NamesWithControlCharactersStayOnOneLine) {
  write_string(folder_ / "a\nb.json", "{\"no\\nsuch\": 1}");
  write_string(folder_ / "a\nb.npy", npy_text("<f\n", false, "1, 1", "1234"));
  const std::pair<std::vector<std::string>, std::vector<std::string>> table[] = {
      {{"run", "no\nsuch.png", "--out", "out"}, {"no\\nsuch.png"}},
      {{"run", "\x1b[31mred.png", "--out", "out"}, {"\\x1b[31mred.png"}},
      {{"run", "a\nb.npy", "--out", "out"}, {"a\\nb.npy", "'<f\\n'"}},
      {{"run", "--session", "a\nb.json", "--out", "out"}, {"a\\nb.json", "no\\nsuch=1"}},
      {{"run", "--set", "stride=2\n3", "--out", "out"}, {"stride=2\\n3"}},
      {{"run", "pattern:ramp:5x5\n", "--out", "out"}, {"5x5\\n"}},
      {{"run", "--no\nsuch", "--out", "out"}, {}}};
  for (const auto& [arguments, parts] : table)
    EXPECT_TRUE(clean_line_with(convscope(arguments), parts)) << arguments[1];
  // and so does the summary of a run that works
  write_string(folder_ / "x\ny.npy", npy_text("<f4", false, "1, 1", bytes_of_values<float>({1})));
  const Outcome good = convscope({"run", "x\ny.npy", "--set", "bank=box", "--out", "o\nut"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("x\\ny.npy"), std::string::npos) << good.out;
  EXPECT_EQ(std::count(good.out.begin(), good.out.end(), '\n'), 8);
  EXPECT_EQ(Json::parse(read_string(folder_ / "o\nut/run.json"))["input"]["source"], "x\ny.npy");
}

TEST_F(Cli, EmptyValuesAreNoValues) {
  const std::vector<std::string> run{"run", "pattern:constant:4x4", "--out", "out"};
  for (const char* option : {"--weights", "--bias", "--strategy", "--against", "--session"}) {
    std::vector<std::string> arguments = run;
    arguments.insert(arguments.end(), {option, ""});
    const Outcome outcome = convscope(arguments);
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_TRUE(clean_line_with(outcome, {option, "is empty"}));
  }
  EXPECT_EQ(convscope({"run", "", "--out", "out"}).code, 2);
  EXPECT_EQ(convscope({"run", "pattern:constant:4x4", "--out", ""}).code, 2);
  EXPECT_EQ(convscope({"list", "--json=3"}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(Cli, WhatStandsBeforeACommandIsNotDropped) {
  const std::pair<std::vector<std::string>, std::string> table[] = {
      {{"pattern:ramp:9x9", "run", "--out", "out"}, "pattern:ramp:9x9"},
      {{"--set", "stride=2", "run", "pattern:ramp:9x9", "--out", "out"}, "--set"},
      {{"--session", "s.json", "run", "pattern:ramp:9x9", "--out", "out"}, "--session"},
      {{"--chw", "run", "pattern:ramp:9x9", "--out", "out"}, "--chw"},
      {{"--screenshot", "x.png", "list"}, "--screenshot"},
      {{"x.png", "check", "--quick"}, "x.png"}};
  for (const auto& [arguments, part] : table) {
    const Outcome outcome = convscope(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments[0];
    EXPECT_TRUE(clean_line_with(outcome, {part, "before the command"}));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(Cli, OutputThatCannotBeWrittenIsAFailure) {
  const std::vector<std::string> table[] = {{"list"},
                                            {"list", "--json"},
                                            {"--help"},
                                            {"--version"},
                                            {"run", "pattern:constant:4x4", "--out", "out"}};
  for (const auto& arguments : table) {
    const Outcome outcome = convscope(arguments, "/dev/full");
    EXPECT_EQ(outcome.code, 1) << arguments[0];
    EXPECT_TRUE(clean_line_with(outcome, {"No space left"})) << arguments[0];
  }
}

TEST_F(Cli, AFileTooLargeForTheUsersLimitLeavesNothing) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;  // the maps of 64 x 64 are 16 KiB
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Outcome outcome = convscope({"run", "pattern:constant:64x64", "--out", "new/out"});
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(clean_line_with(outcome, {"new/out/maps.npy", "File too large"}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new")) << "the folders of a failed run are left";
}

TEST_F(Cli, AFileBeyondMemoryIsRefusedBeforeReading) {
  write_ones("x.npy", "8, 8", 64);
  std::filesystem::resize_file(folder_ / "x.npy", std::uintmax_t{200} << 30);  // sparse
  for (const auto& arguments : {std::vector<std::string>{"run", "x.npy", "--out", "out"},
                                {"run", "pattern:constant:4x4", "--weights", "x.npy", "--out", "out"},
                                {"run", "--session", "x.npy", "--out", "out"}}) {
    const Outcome outcome = convscope(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(clean_line_with(outcome, {"x.npy", "214748364800 bytes", "at most"}));
  }
}

TEST_F(Cli, FiltersOfTheCommandLineReplaceTheSessions) {
  write_string(folder_ / "two.npy", npy_text("<f4", false, "1, 1", bytes_of_values<float>({2})));
  write_string(folder_ / "ten.npy", npy_text("<f4", false, "1,", bytes_of_values<float>({10})));
  write_string(folder_ / "edited.json", R"({"edited_weights": {"shape": [1, 1, 1, 1], "values": [3]}})");
  write_string(folder_ / "file.json", R"({"weights": "two.npy", "bias": "ten.npy"})");
  struct Row {
    const char* session;
    std::vector<std::string> arguments;
    double value;
  };
  const Row table[] = {{"edited.json", {}, 3},
                       {"edited.json", {"--weights", "two.npy"}, 2},
                       {"edited.json", {"--set", "weights=two.npy"}, 2},
                       {"edited.json", {"--set", "bank=identity"}, 1},
                       {"edited.json", {"--weights", "two.npy", "--bias", "ten.npy"}, 12},
                       {"file.json", {}, 12},
                       {"file.json", {"--set", "bank=identity"}, 1},
                       {"file.json", {"--set", "edited_weights={\"shape\":[1,1,1,1],\"values\":[5]}"}, 5}};
  for (const Row& row : table) {
    std::vector<std::string> arguments{"run",      "pattern:constant:4x4", "--out", "out", "--session",
                                       row.session};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const Outcome outcome = convscope(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read_npy(folder_ / "out/maps.npy").values()[5], row.value) << row.session << outcome.out;
  }
  const Outcome bias = convscope(
      {"run", "pattern:constant:4x4", "--out", "no", "--session", "edited.json", "--bias", "ten.npy"});
  EXPECT_EQ(bias.code, 2);
  EXPECT_TRUE(clean_line_with(bias, {"bias=ten.npy", "edited_weights"}));
}

}  // namespace
}  // namespace convscope
