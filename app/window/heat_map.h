#pragma once

#include <array>
#include <cstdint>

#include "app/display.h"
#include "app/window/gl_objects.h"
#include "app/window/view_buffer.h"

namespace convscope {

/// Draws the view buffer through a range and a table of colours into a texture of view size. Draws only when
/// one of them has changed.
class HeatMap {
 public:
  HeatMap();

  /// `logarithmic`: of magnitudes, over a range that is positive.
  void draw(const ViewBuffer&, Range, bool logarithmic, ColorMap);
  /// RGBA8, first row on top; keeps its name over changes of size. 0 before the first draw.
  GLuint texture() const { return drawn_ ? target_.id() : 0; }
  GLuint table(ColorMap map) const { return tables_[static_cast<std::size_t>(map)].id(); }

 private:
  struct Drawn {
    uint64_t serial;
    int width, height;
    double low, high;
    bool logarithmic;
    ColorMap map;
    bool operator==(const Drawn&) const = default;
  };
  void resize(int width, int height);

  GlProgram program_;
  GLint range_at_, logarithmic_at_, width_at_;
  GlVertexArray vertices_;
  std::array<GlTexture, 4> tables_;
  GlTexture target_;
  GlFramebuffer framebuffer_;
  Drawn last_{};
  bool drawn_ = false;
};

}  // namespace convscope
