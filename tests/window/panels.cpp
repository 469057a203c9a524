// Panels without a window: Dear ImGui runs on made-up input.
#include <gtest/gtest.h>
#include <imgui.h>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"
#include "app/window/status_line.h"
#include "tests/app_testing.h"

namespace convscope {
namespace {

class Panels : public ::testing::Test {
 protected:
  Panels() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {400, 1200};
    io.DeltaTime = 1.0F / 60;
    apply_theme(ui_);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  }
  ~Panels() override { ImGui::DestroyContext(); }

  template <class Draw>
  void frame(Draw draw, ImVec2 pointer = {-1, -1}, bool down = false) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = pointer;
    io.MouseDown[0] = down;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(io.DisplaySize);
    ImGui::Begin("area", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove);
    draw();
    ImGui::End();
    ImGui::Render();
  }
  template <class Draw>
  void click(Draw draw, ImVec2 at) {
    for (int i = 0; i < 2; ++i) frame(draw, at);
    for (int i = 0; i < 2; ++i) frame(draw, at, true);
    for (int i = 0; i < 2; ++i) frame(draw, at);
  }

  Ui ui_;
};

TEST_F(Panels, EqualLabelsReactOnTheirOwn) {
  // C28
  int pressed[2] = {0, 0};
  ImVec2 middle[2];
  const auto draw = [&] {
    for (int i = 0; i < 2; ++i) {
      const PanelScope panel(ui_, i == 0 ? "First" : "Second");
      if (ImGui::Button("Reset")) ++pressed[i];
      middle[i] = {(ImGui::GetItemRectMin().x + ImGui::GetItemRectMax().x) / 2,
                   (ImGui::GetItemRectMin().y + ImGui::GetItemRectMax().y) / 2};
    }
  };
  frame(draw);
  click(draw, middle[1]);
  EXPECT_EQ(pressed[0], 0);
  EXPECT_EQ(pressed[1], 1);
  click(draw, middle[0]);
  EXPECT_EQ(pressed[0], 1);
  EXPECT_EQ(pressed[1], 1);
}

TEST_F(Panels, AllDrawWithoutResults) {
  Settings settings;
  const Settings before = settings;
  const Results results;
  const auto draw = [&] {
    source_panel(settings, results, ui_);
    strategies_panel(settings, results, ui_);
    filter_bank_panel(settings, results, ui_);
    convolution_panel(settings, results, ui_);
    pixel_panel(settings, results, ui_);
    difference_panel(settings, results, ui_);
    timings_panel(settings, results, ui_);
    views_panel(settings, results, ui_);
    status_bar(settings, results, ui_);
    ui_.help = true;
    help_window(results, ui_);
    file_dialogs(ui_);
  };
  for (int i = 0; i < 3; ++i) frame(draw);
  EXPECT_EQ(settings, before) << "drawing alone changes no setting";
}

TEST_F(Panels, ARecordingIsProposedUnderANameThatIsFree) {
  const testing::TemporaryFolder folder;
  ui_.record.name = folder / "v.avi";
  testing::write_string(ui_.record.name, "of an earlier session");
  ui_.record.opening = true;
  frame([&] { file_dialogs(ui_); });
  EXPECT_EQ(ui_.record.name, folder / "v-2.avi");
}

/// What a computation of two filters over three channels leaves to be shown.
Results two_filters() {
  Results results;
  PreparedOperation prepared;
  prepared.operation.problem.shape = {
      .c_in = 3, .h = 8, .w = 8, .c_out = 2, .k_h = 3, .k_w = 3, .pad = {1, 1}};
  prepared.labels = {"first", "second"};
  results.weights = {2, 3, 3, 3, std::vector<double>(54, 0.25), {}};
  prepared.operation.weights = results.weights;
  results.shown = Shown{1, nullptr, std::make_shared<const PreparedOperation>(prepared),
                        registry().front().info, nullptr};
  return results;
}

TEST_F(Panels, DraggingAWeightEditsThatOneAlone) {
  Settings settings;
  const Results results = two_filters();
  ui_.filter = 1;
  ui_.channel = 2;
  const auto draw = [&] { filter_bank_panel(settings, results, ui_); };
  // labels stand at the left, so that the first thing that answers to a drag there is a weight of the first
  // column
  for (float y = 40; y < 400 && !settings.edited_weights; y += 6) {
    for (int i = 0; i < 2; ++i) frame(draw, {30, y});
    for (int i = 0; i < 20; ++i) frame(draw, {30 + 5.0F * static_cast<float>(i), y}, true);
    for (int i = 0; i < 2; ++i) frame(draw, {30, y});
  }
  ASSERT_TRUE(settings.edited_weights) << "nothing answered to the drag";
  int changed = 0;
  for (int64_t o = 0; o < 2; ++o) {
    for (int64_t c = 0; c < 3; ++c) {
      for (int64_t i = 0; i < 9; ++i) {
        const double w = settings.edited_weights->at(o, c, i / 3, i % 3);
        changed += w != 0.25;
        if (w != 0.25) {
          EXPECT_EQ(o, 1) << "the chosen filter";
          EXPECT_EQ(c, 2) << "the chosen channel";
          EXPECT_EQ(i, 0) << "the first weight";
          EXPECT_GT(w, 0.25) << "dragged to the right";
        }
      }
    }
  }
  EXPECT_EQ(changed, 1);
}

TEST_F(Panels, ValuesAreWrittenOnTheirOwnPictureAlone) {
  const Settings settings;
  Results results = two_filters();
  // memory for more than the two maps, so that a read beyond them shows in what is written
  const auto values = std::make_shared<std::vector<float>>(16 * 8 * 8, 0.5F);
  const auto maps_of = [&](uint64_t number) {
    auto maps = std::make_shared<HostMaps>();
    maps->number = number;
    maps->prepared = results.shown->prepared;
    maps->info = registry().front().info;
    maps->values = values->data();
    maps->keep = values;
    return maps;
  };
  results.shown->number = 7;
  results.shown->host = maps_of(7);
  results.difference.emplace().serial = 3;
  results.difference->a = results.difference->b = maps_of(7);
  const int kView = 320;
  ui_.request.width = ui_.request.height = kView;
  ViewLayout layout;
  layout.cells = layout.columns = 1;
  layout.view_w = layout.view_h = layout.cell_w = layout.cell_h = layout.pitch_x = layout.pitch_y = kView;
  layout.plane_w = layout.plane_h = 8;
  layout.step = 1.0 / 80;
  layout.first_plane = 1;
  const auto vertices = [&](const ViewLayout& drawn, uint64_t serial, bool difference) {
    ui_.drawn = drawn;
    ui_.drawn_serial = serial;
    ui_.drawn_difference = difference;
    ui_.picture_current = true;
    int count = 0;
    frame([&] {
      ui_.view_list = ImGui::GetWindowDrawList();
      const int before = ui_.view_list->VtxBuffer.Size;
      view_overlay(settings, results, ui_);
      count = ui_.view_list->VtxBuffer.Size - before;
    });
    return count;
  };
  ViewLayout magnified_less = layout;
  magnified_less.step = 1;
  const int label_alone = vertices(magnified_less, 7, false);
  EXPECT_GT(vertices(layout, 7, false), label_alone);
  EXPECT_GT(vertices(layout, 3, true), label_alone);
  EXPECT_EQ(vertices(layout, 6, false), label_alone) << "the picture is of the computation before";
  EXPECT_EQ(vertices(layout, 2, true), label_alone) << "the picture is of the difference before";
  ViewLayout beyond = layout;
  beyond.first_plane = 3;  // named "first" or "second" as that of plane 1 is
  EXPECT_EQ(vertices(beyond, 7, false), label_alone) << "there are two maps";
  ViewLayout wider = layout;
  wider.plane_w = 9;
  EXPECT_EQ(vertices(wider, 7, false), label_alone) << "maps of another size";
  ui_.view_list = nullptr;
  view_overlay(settings, results, ui_);  // no room for a picture
}

TEST_F(Panels, AStreamsFramesAreLimitedAndSetFreeAgain) {
  Settings settings;
  const LiveStatus live;
  const auto draw = [&] { stream_controls(settings, live, ui_); };
  const float x = 92 * ui_.scale + 14;  // in the column of controls
  float y = 4;
  for (; y < 300 && settings.frame_limit == 0; y += 6) click(draw, {x, y});
  EXPECT_EQ(settings.frame_limit, 30) << "nothing answered to a click";
  y -= 6;
  const auto drag = [&](float dx) {
    for (int i = 0; i < 2; ++i) frame(draw, {x + 100, y});
    for (int i = 0; i <= 20; ++i) frame(draw, {x + 100 + dx * static_cast<float>(i) / 20, y}, true);
    for (int i = 0; i < 2; ++i) frame(draw, {x + 100 + dx, y});
  };
  drag(40);
  EXPECT_GT(settings.frame_limit, 30) << "dragged to the right";
  drag(-1000);
  EXPECT_GT(settings.frame_limit, 0);
  EXPECT_LT(settings.frame_limit, 1) << "the least";
  click(draw, {x, y});
  EXPECT_EQ(settings.frame_limit, 0) << "off";
}

/// The status bar's last item.
class StatusLines : public ::testing::Test {
 protected:
  std::string text() const { return status_line(settings_, results_, ui_).text; }
  void later() { date_status(ui_, results_, ++now_); }
  Settings settings_;
  Results results_;
  Ui ui_;
  double now_ = 1;
};

TEST_F(StatusLines, TheNewestIsShown) {
  EXPECT_EQ(text(), "F1: keys");
  results_.computing = true;
  EXPECT_EQ(text(), "computing…");
  results_.note = "another in its place";
  later();
  EXPECT_EQ(text(), "another in its place");
  results_.fault = Fault{"source", "no such file", ++now_};
  EXPECT_EQ(text(), "no such file");
  ui_.message = "exported";
  later();
  EXPECT_EQ(text(), "exported") << "a fault that stands does not hide it";
  results_.live.emplace().state = LiveState::stalled;
  results_.live->message = "no frame for 2 s";
  later();
  EXPECT_EQ(text(), "stalled: no frame for 2 s");
  ui_.message = "recorded";
  later();
  results_.live->message = "no frame for 3 s";
  later();
  EXPECT_EQ(text(), "recorded") << "that the stream stalled is older, though its words are new";
  results_.fault = Fault{"stride", "stride 0", ++now_};
  EXPECT_EQ(text(), "stride 0");
  results_.fault.reset();
  ui_.message.clear();
  later();
  EXPECT_EQ(text(), "stalled: no frame for 3 s");
  results_.live.reset();
  later();
  EXPECT_EQ(text(), "another in its place");
}

TEST_F(StatusLines, WhatIsSaidAgainIsNew) {
  ui_.message = "restored mine.json";
  later();
  results_.fault = Fault{"stride", "stride 0", ++now_};
  ui_.message.clear();  // as any action does
  later();
  ui_.message = "restored mine.json";
  later();
  EXPECT_EQ(text(), "restored mine.json");
}

TEST_F(Panels, TextIsCutAtWholeLetters) {
  std::string cut;
  frame([&] { cut = fitted_text("Größenänderung über alles", 90); });
  EXPECT_LT(cut.size(), std::string("Größenänderung über alles").size());
  ASSERT_GE(cut.size(), 3U);
  EXPECT_EQ(cut.substr(cut.size() - 3), "…");
  for (std::size_t i = 0; i < cut.size(); ++i) {
    if (static_cast<unsigned char>(cut[i]) == 0xC3) {
      ASSERT_LT(i + 1, cut.size());
      EXPECT_EQ(static_cast<unsigned char>(cut[i + 1]) & 0xC0, 0x80);
    }
  }
}

}  // namespace
}  // namespace convscope
