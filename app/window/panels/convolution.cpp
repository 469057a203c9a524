#include <fmt/format.h>
#include <imgui.h>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

void padding(Settings& settings, const Results& results, const Ui& ui) {
  using Mode = Padding::Mode;
  control_label(ui, "Padding",
                "same: the output has ceil(input / stride) pixels; valid: none; or pixels for each side");
  Mode mode = settings.pad.mode;
  if (choice<Mode>("##pad", mode,
                   {{Mode::same, "same"}, {Mode::valid, "valid"}, {Mode::amounts, "pixels"}})) {
    settings.pad.mode = mode;
    if (mode == Mode::amounts && results.shown) {
      // begins with what the padding was
      const Operation& op = results.shown->prepared->operation;
      const ConvShape& s = op.problem.shape;
      settings.pad.amounts = {op.border.top + s.pad.y, op.border.bottom + s.pad.y, op.border.left + s.pad.x,
                              op.border.right + s.pad.x};
    }
  }
  if (settings.pad.mode == Mode::amounts) {
    auto& a = settings.pad.amounts;
    Axes vertical{a[0], a[1]}, horizontal{a[2], a[3]};
    control_label(ui, "top, bottom");
    if (axes_input(ui, "vertical", vertical)) a[0] = vertical.y, a[1] = vertical.x;
    control_label(ui, "left, right");
    if (axes_input(ui, "horizontal", horizontal)) a[2] = horizontal.y, a[3] = horizontal.x;
  }
  fault_note(results, {"pad"});
}

void anchor(Settings& settings, const Results& results, const Ui& ui) {
  if (settings.pad.mode != Padding::Mode::same) return;
  control_label(ui, "Anchor y, x", "The kernel's cell that lies on each output pixel; the middle unless set");
  const ConvWeights& w = results.weights;
  Axes at = settings.anchor.value_or(Axes{w.k_h / 2, w.k_w / 2});
  if (axes_input(ui, "anchor", at)) {
    settings.anchor = at == Axes{w.k_h / 2, w.k_w / 2} ? std::nullopt : std::optional(at);
  }
  fault_note(results, {"anchor"});
}

void output_line(const Results& results, const Ui& ui) {
  if (!results.shown) return;
  const ConvShape& s = results.shown->shape();
  mono_text(
      ui,
      fmt::format("{}x{}x{}x{} -> {}x{}x{}x{}", s.n, s.c_in, s.h, s.w, s.n, s.c_out, s.out_h(), s.out_w()),
      kPalette.dim);
  tooltip("Images x planes x height x width, of the padded input and of the output");
  mono_text(ui,
            fmt::format("{} multiply-adds, {}", count_text(static_cast<double>(s.multiply_adds())),
                        bytes_text(static_cast<double>(s.output_size()) *
                                   static_cast<double>(bytes_of(results.shown->info.precision)))),
            kPalette.dim);
  tooltip("Work, and the size of all feature maps");
}

}  // namespace

void convolution_panel(Settings& settings, const Results& results, Ui& ui) {
  const PanelScope panel(ui, "Convolution");
  if (!panel) return;
  control_label(ui, "Stride y, x");
  axes_input(ui, "stride", settings.stride);
  fault_note(results, {"stride"});
  control_label(ui, "Dilation y, x");
  axes_input(ui, "dilation", settings.dilation);
  fault_note(results, {"dilation"});
  padding(settings, results, ui);
  anchor(settings, results, ui);
  control_label(ui, "Border", "What lies beyond the edge");
  choice<Border>("##border", settings.border,
                 {{Border::zero, "zero"},
                  {Border::replicate, "replicate"},
                  {Border::reflect, "reflect"},
                  {Border::reflect_101, "reflect_101"},
                  {Border::wrap, "wrap"}});
  fault_note(results, {"border"});
  control_label(ui, "Activation", "After the bias");
  choice<Activation>("##activation", settings.activation,
                     {{Activation::none, "none"},
                      {Activation::relu, "ReLU"},
                      {Activation::sigmoid, "sigmoid"},
                      {Activation::tanh, "tanh"}});
  fault_note(results, {"activation"});
  control_label(ui, "Input scale",
                "Integers are divided by their type's largest value, or taken as they are");
  choice<bool>("##scale", settings.unit_scale, {{true, "0 to 1"}, {false, "as stored"}});
  fault_note(results, {"scale"});
  output_line(results, ui);
}

}  // namespace convscope
