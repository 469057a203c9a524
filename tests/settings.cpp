// Every key of the settings goes to text and back; the session file holds JSON's own types; a fault changes
// nothing.
#include "app/settings.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/registry.h"
#include "tests/app_testing.h"

namespace convscope {
namespace {

using namespace convscope::testing;

/// For every key: texts it takes, and how the value then reads.
const std::multimap<std::string, std::pair<std::string, std::string>>& accepted() {
  static const std::multimap<std::string, std::pair<std::string, std::string>> table{
      {"source", {"a folder/b=c.png", "a folder/b=c.png"}},
      {"source", {"", ""}},
      {"source", {"123", "123"}},
      {"chw", {"true", "on"}},
      {"chw", {"off", "off"}},
      {"bank", {"sobel", "sobel"}},
      {"weights", {"w.npy", "w.npy"}},
      {"weights", {"", ""}},
      {"bias", {"on", "on"}},
      {"edited_weights",
       {R"({"shape":[1,1,1,2],"values":[0.1,-1e-300],"bias":[0.3333333333333333]})",
        R"({"bias":[0.3333333333333333],"shape":[1,1,1,2],"values":[0.1,-1e-300]})"}},
      {"edited_weights", {"", ""}},
      {"kernel", {"5", "5,5"}},
      {"kernel", {"1,7", "1,7"}},
      {"kernel", {"auto", "auto"}},
      {"convolution", {"on", "on"}},
      {"stride", {"2", "2,2"}},
      {"stride", {"2,3", "2,3"}},
      {"stride", {"2, 3", "2,3"}},
      {"dilation", {"4,1", "4,1"}},
      {"pad", {"same", "same"}},
      {"pad", {"valid", "valid"}},
      {"pad", {"1", "1,1,1,1"}},
      {"pad", {"1,2", "1,1,2,2"}},
      {"pad", {"1,2,3,4", "1,2,3,4"}},
      {"anchor", {"0", "0,0"}},
      {"anchor", {"1,2", "1,2"}},
      {"anchor", {"auto", "auto"}},
      {"border", {"zero", "zero"}},
      {"border", {"replicate", "replicate"}},
      {"border", {"reflect", "reflect"}},
      {"border", {"reflect_101", "reflect_101"}},
      {"border", {"wrap", "wrap"}},
      {"activation", {"relu", "relu"}},
      {"activation", {"sigmoid", "sigmoid"}},
      {"activation", {"tanh", "tanh"}},
      {"activation", {"none", "none"}},
      {"scale", {"unit", "unit"}},
      {"scale", {"none", "none"}},
      {"scale", {"raw", "none"}},
      {"scale", {"1/255", "unit"}},
      {"strategy", {"tiled", "tiled"}},
      {"target", {"cuda", "cuda"}},
      {"target", {"emulated", "emulated"}},
      {"target", {"cpu", "cpu"}},
      {"target", {"auto", "auto"}},
      {"precision", {"fp64", "fp64"}},
      {"rounding", {"separate", "separate"}},
      {"separable_rank", {"exact", "exact"}},
      {"separable_rank", {"31", "31"}},
      {"against", {"onednn", "onednn"}},
      {"against_target", {"cpu", "cpu"}},
      {"tab", {"one", "one"}},
      {"tab", {"difference", "difference"}},
      {"map", {"15", "15"}},
      {"center", {"0.1,0.3333333333333333", "0.1,0.3333333333333333"}},
      {"zoom", {"0.30000000000000004", "0.30000000000000004"}},
      {"zoom", {"1e-17", "1e-17"}},
      {"color_map", {"turbo", "turbo"}},
      {"color_map", {"diverging", "diverging"}},
      {"color_map", {"grey", "grey"}},
      {"range", {"-1.5,2.25", "-1.5,2.25"}},
      {"range", {"auto", "auto"}},
      {"range", {"auto,-3,4", "auto,-3,4"}},
      {"metric", {"ulp", "ulp"}},
      {"metric", {"absolute", "absolute"}},
      {"metric", {"relative", "relative"}},
      {"metric", {"bound_fraction", "bound_fraction"}},
      {"metric", {"signed", "signed"}},
      {"interop", {"off", "off"}},
      {"rate", {"12.5", "12.5"}},
      {"play", {"off", "off"}},
      {"loop", {"no", "off"}},
      {"speed", {"0.25", "0.25"}},
      {"freeze", {"on", "on"}},
      {"frame_limit", {"12.5", "12.5"}},
      {"vsync", {"off", "off"}},
      {"bottom_tab", {"race", "race"}},
      {"bottom_tab", {"roofline", "roofline"}},
      {"bottom_tab", {"strategy", "strategy"}},
      {"race_rows", {"cpu,cuda", "cuda,cpu"}},
      {"race_rows", {"emulated,plain", "emulated,plain"}},
      {"race_rows", {"none", "none"}},
      {"race_rows", {"auto", "auto"}},
      {"race_sort", {"bandwidth", "bandwidth"}},
      {"race_sort", {"speed_up", "speed_up"}},
      {"race_descending", {"on", "on"}},
  };
  return table;
}

TEST(Settings, EveryKeyGoesToTextAndBack) {
  std::set<std::string> tried;
  for (const auto& [key, texts] : accepted()) {
    SCOPED_TRACE(key + "=" + texts.first);
    tried.insert(key);
    Settings settings, again;
    set(settings, key, texts.first);
    EXPECT_EQ(get(settings, key), texts.second);
    set(again, key, get(settings, key));
    EXPECT_EQ(settings, again);
    for (const SettingInfo& other : setting_infos()) {
      if (other.key == key) continue;
      EXPECT_EQ(get(settings, other.key), get(Settings{}, other.key)) << other.key;
    }
  }
  for (const SettingInfo& info : setting_infos())
    EXPECT_TRUE(tried.contains(info.key)) << info.key << " is not tested";
}

TEST(Settings, SessionFileKeepsEveryValue) {
  const TemporaryFolder folder;
  const std::string path = folder / "s.json";
  Settings all;
  for (const auto& [key, texts] : accepted()) {
    SCOPED_TRACE(key + "=" + texts.first);
    Settings one;
    set(one, key, texts.first);
    if (!texts.first.empty()) set(all, key, texts.first);
    save_session(one, path);
    EXPECT_EQ(load_session(path), one);
  }
  save_session(all, path);
  EXPECT_EQ(load_session(path), all);
  save_session(Settings{}, path);
  EXPECT_EQ(load_session(path), Settings{});
}

TEST(Settings, SessionFileHasJsonsOwnTypes) {
  const TemporaryFolder folder;
  const std::string path = folder / "s.json";
  Settings settings;
  for (const char* assignment :
       {"stride=2,3", "zoom=1.5", "chw=on", "pad=1,2,3,4", "source=123", "border=wrap"})
    set(settings, assignment);
  settings.edited_weights = ConvWeights{1, 1, 1, 1, {0.1}, {}};
  save_session(settings, path);
  const auto json = nlohmann::json::parse(read_string(path));
  EXPECT_EQ(json["stride"], (nlohmann::json{2, 3}));
  EXPECT_EQ(json["zoom"], 1.5);
  EXPECT_EQ(json["chw"], true);
  EXPECT_EQ(json["pad"], (nlohmann::json{1, 2, 3, 4}));
  EXPECT_EQ(json["source"], "123");
  EXPECT_EQ(json["border"], "wrap");
  EXPECT_EQ(json["edited_weights"]["values"][0], 0.1);
  // as a person may write it
  write_string(path, R"({"stride": 2, "pad": "same", "range": [0, 1], "interop": "off", "kernel": "3,5"})");
  const Settings loaded = load_session(path);
  EXPECT_EQ(loaded.stride, (Axes{2, 2}));
  EXPECT_EQ(loaded.kernel, (Axes{3, 5}));
  EXPECT_FALSE(loaded.auto_range);
  EXPECT_FALSE(loaded.interop);
}

TEST(Settings, FaultsNameKeyValueAndWhatIsExpected) {
  const std::pair<const char*, std::vector<std::string>> table[] = {
      {"stride=0", {"stride=0", "from 1 up"}},
      {"stride=", {"stride=:", "from 1 up"}},
      {"stride=1,2,3", {"stride=1,2,3"}},
      {"stride=2.5", {"stride=2.5"}},
      {"stride=99999999999999999999", {"stride=999"}},
      {"dilation=-1", {"dilation=-1"}},
      {"pad=-1", {"pad=-1", "same | valid"}},
      {"pad=1,2,3", {"pad=1,2,3"}},
      {"pad=full", {"pad=full"}},
      {"anchor=-1", {"anchor=-1"}},
      {"kernel=0", {"kernel=0"}},
      {"border=mirror", {"border=mirror", "reflect_101"}},
      {"activation=gelu", {"activation=gelu", "sigmoid"}},
      {"scale=2", {"scale=2", "unit | none"}},
      {"precision=fp16", {"precision=fp16", "fp32 | fp64"}},
      {"rounding=up", {"rounding=up", "fused | separate"}},
      {"target=gpu", {"target=gpu", "emulated"}},
      {"strategy=", {"strategy=", "NAME"}},
      {"zoom=nan", {"zoom=nan"}},
      {"zoom=-1", {"zoom=-1"}},
      {"center=1", {"center=1", "X,Y"}},
      {"center=inf,0", {"center=inf,0"}},
      {"range=2,1", {"range=2,1", "LOW,HIGH"}},
      {"map=-1", {"map=-1"}},
      {"interop=maybe", {"interop=maybe", "on | off"}},
      {"race_rows=gpu", {"race_rows=gpu", "auto | none | cuda, emulated, cpu, plain"}},
      {"race_rows=cuda,", {"race_rows=cuda,", "auto | none | cuda"}},
      {"edited_weights={", {"edited_weights={"}},
      {"edited_weights={\"shape\":[1,1,1,2],\"values\":[1]}", {"1 values, expected 2"}},
      {"nosuch=1", {"nosuch=1", "no such setting", "stride"}},
      {"stride", {"stride", "key=value"}},
  };
  for (const auto& [assignment, parts] : table) {
    Settings settings;
    const std::string message = error_of([&, text = assignment] { set(settings, text); });
    EXPECT_TRUE(one_line_with(message, parts)) << assignment;
    EXPECT_EQ(settings, Settings{}) << assignment << " changed something";
  }
}

TEST(Settings, SessionFaultsNameTheFileAndTheKey) {
  const TemporaryFolder folder;
  const std::string path = folder / "s.json";
  const std::pair<const char*, std::vector<std::string>> table[] = {
      {"", {"empty"}},
      {"{\"stride\": 2", {"is not JSON", "byte"}},
      {"[1, 2]", {"array", "object of settings"}},
      {"{\"nosuch\": 2}", {"nosuch=2", "no such setting"}},
      {"{\"stride\": [0, 1]}", {"stride=0,1"}},
      {"{\"stride\": {\"y\": 1}}", {"stride="}},
      {"{\"stride\": true}", {"stride=on"}},
      {"{\"stride\": 2, \"stride\": 3}", {"\"stride\"", "twice"}},
      {"{\"stride\": 1e999}", {"too large", "1e999"}},
      {"{\"stride\": [[2], [3]]}", {"stride=[[2],[3]]"}},
      {"{\"stride\": [true, 2]}", {"stride=[true,2]"}},
      {"{\"source\": 5}", {"source=5", "expected a text"}},
      {"{\"weights\": [\"a\"]}", {"weights=[\"a\"]", "expected a text"}},
      {"{\"bank\": true}", {"bank=true", "expected a text"}},
      {"{\"edited_weights\": {\"shape\": [1, 1, 1, 1], \"values\": [null]}}", {"null is not a number"}},
      {"{\"edited_weights\": {\"shape\": [1.5, 1, 1, 1], \"values\": [1]}}", {"[1.5,1,1,1]"}},
      {"{\"edited_weights\": {\"shape\": [1, 1, 1, 1], \"values\": [1], \"x\": 1}}", {"unknown key \"x\""}},
      {"{\"edited_weights\": {\"values\": [1]}}", {"\"shape\" is null"}},
      {"{\"edited_weights\": [1]}", {"edited_weights=1"}},
  };
  for (const auto& [text, parts] : table) {
    write_string(path, text);
    const std::string message = error_of([&] { load_session(path); });
    EXPECT_TRUE(one_line_with(message, {path})) << text;
    EXPECT_TRUE(one_line_with(message, parts)) << text;
  }
  EXPECT_TRUE(
      one_line_with(error_of([&] { load_session(folder / "none.json"); }), {"none.json", "No such file"}));
}

TEST(Settings, WeightsThatAreNotFiniteComeBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "s.json";
  Settings settings;
  settings.edited_weights = ConvWeights{1, 1, 1, 4, {NAN, INFINITY, -INFINITY, 0.1}, {NAN}};
  save_session(settings, path);
  const ConvWeights loaded = load_session(path).edited_weights.value();
  EXPECT_TRUE(std::isnan(loaded.values[0]));
  EXPECT_EQ(loaded.values[1], INFINITY);
  EXPECT_EQ(loaded.values[2], -INFINITY);
  EXPECT_EQ(loaded.values[3], 0.1);
  EXPECT_TRUE(std::isnan(loaded.bias[0]));
}

TEST(Settings, ANameThatJsonCannotHoldIsSaid) {
  const TemporaryFolder folder;
  const std::string path = folder / "s.json";
  Settings settings;
  settings.source = "not utf-8 \xff.png";
  EXPECT_TRUE(one_line_with(error_of([&] { save_session(settings, path); }), {path, "not UTF-8"}));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Settings, LongValuesAreShortenedInMessages) {
  Settings settings;
  const std::string message = error_of([&] { set(settings, "stride", std::string(100000, '7')); });
  EXPECT_TRUE(one_line_with(message, {"stride=777", "...", "from 1 up"}));
  EXPECT_LT(message.size(), 200u);
}

TEST(Settings, AFailedSaveLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string missing = folder / "nowhere/s.json";
  EXPECT_TRUE(one_line_with(error_of([&] { save_session({}, missing); }), {missing, "cannot be written"}));
  std::filesystem::create_directory(folder / "s.json");
  EXPECT_TRUE(one_line_with(error_of([&] { save_session({}, folder / "s.json"); }), {"s.json", "folder"}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1)
      << "a temporary file is left";
}

/// The README's tables hold what there is.
TEST(Settings, TheReadmeNamesThemAndTheStrategies) {
  std::ifstream file(CONVSCOPE_README);
  const std::string readme(std::istreambuf_iterator<char>(file), {});
  const std::size_t settings = readme.find("\n## Settings\n"), end = readme.find("\n## ", settings + 1);
  ASSERT_NE(settings, std::string::npos) << CONVSCOPE_README;
  const std::string table = readme.substr(settings, end - settings);
  for (const SettingInfo& info : setting_infos())
    EXPECT_NE(table.find("`" + info.key + "`"), std::string::npos) << info.key;
  for (const std::string& name : strategy_names()) {
    if (name.starts_with("cudnn_")) continue;  // a row for all of cuDNN's algorithms
    EXPECT_NE(readme.find("`" + name + "`"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace convscope
