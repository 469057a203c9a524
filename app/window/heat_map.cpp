#include "app/window/heat_map.h"

#include <vector>

#include "kernels/view.h"
#include "shaders_embedded.h"

namespace convscope {
namespace {

constexpr GLuint kBitsUnit = 0, kTableUnit = 1;
constexpr const char* kName = "heat_map";

void set_color(const GlProgram& program, const char* name, Rgb c) {
  glProgramUniform3f(program.id(), uniform(program, kName, name), static_cast<float>(c.r) / 255.0F,
                     static_cast<float>(c.g) / 255.0F, static_cast<float>(c.b) / 255.0F);
}

GlTexture make_table(ColorMap map) {
  GlTexture table = GlTexture::make();
  glTextureStorage2D(table.id(), 1, GL_RGBA8, 256, 1);
  std::vector<uint8_t> rgba;
  for (const Rgb c : color_table(map)) rgba.insert(rgba.end(), {c.r, c.g, c.b, 255});
  glTextureSubImage2D(table.id(), 0, 0, 0, 256, 1, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
  glTextureParameteri(table.id(), GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTextureParameteri(table.id(), GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTextureParameteri(table.id(), GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  return table;
}

}  // namespace

HeatMap::HeatMap()
    : program_(make_program(kName, shaders::heat_map_vert, shaders::heat_map_frag)),
      range_at_(uniform(program_, kName, "range")),
      logarithmic_at_(uniform(program_, kName, "logarithmic")),
      width_at_(uniform(program_, kName, "view_width")),
      vertices_(GlVertexArray::make()),
      target_(GlTexture::make()),
      framebuffer_(GlFramebuffer::make()) {
  glProgramUniform1i(program_.id(), uniform(program_, kName, "view_bits"), kBitsUnit);
  glProgramUniform1i(program_.id(), uniform(program_, kName, "table"), kTableUnit);
  glProgramUniform1ui(program_.id(), uniform(program_, kName, "empty_bits"), kViewEmptyBits);
  set_color(program_, "empty_color", kEmptyColor);
  set_color(program_, "nan_color", kNanColor);
  for (const ColorMap map : {ColorMap::grey, ColorMap::viridis, ColorMap::turbo, ColorMap::diverging}) {
    tables_[static_cast<std::size_t>(map)] = make_table(map);
  }
  check_gl("heat map");
}

void HeatMap::resize(int width, int height) {
  if (drawn_ && last_.width == width && last_.height == height) return;
  // mutable storage: the interface may already hold the texture's name in this frame's draw list
  glBindTexture(GL_TEXTURE_2D, target_.id());
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  glTextureParameteri(target_.id(), GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTextureParameteri(target_.id(), GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glBindTexture(GL_TEXTURE_2D, 0);
  glNamedFramebufferTexture(framebuffer_.id(), GL_COLOR_ATTACHMENT0, target_.id(), 0);
}

void HeatMap::draw(const ViewBuffer& view, Range range, bool logarithmic, ColorMap map) {
  if (view.texture() == 0) return;
  const Drawn now{view.serial(), view.width(), view.height(), range.low, range.high, logarithmic, map};
  if (drawn_ && now == last_) return;
  resize(now.width, now.height);
  last_ = now;
  drawn_ = true;
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_.id());
  glViewport(0, 0, now.width, now.height);
  glDisable(GL_BLEND);
  glDisable(GL_SCISSOR_TEST);
  glUseProgram(program_.id());
  glUniform2f(range_at_, static_cast<float>(range.low), static_cast<float>(range.high));
  glUniform1i(logarithmic_at_, logarithmic);
  glUniform1i(width_at_, now.width);
  glBindTextureUnit(kBitsUnit, view.texture());
  glBindTextureUnit(kTableUnit, table(map));
  glBindVertexArray(vertices_.id());
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glBindVertexArray(0);
  glUseProgram(0);
  glBindTextureUnit(kBitsUnit, 0);
  glBindTextureUnit(kTableUnit, 0);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

}  // namespace convscope
