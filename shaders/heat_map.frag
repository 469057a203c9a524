#version 450 core
// Colours of view pixels: a range and a table of 256 colours. The view arrives as bits, because a sampler of floats may
// flush the payload that tells "no plane here" from a computed NaN.
uniform usamplerBuffer view_bits;  // view_width floats a row, row 0 at the top
uniform sampler2D table;           // 256 x 1, from low to high
uniform int view_width;
uniform vec2 range;  // low, high; both positive where logarithmic
uniform bool logarithmic;
uniform uint empty_bits;
uniform vec3 empty_color;
uniform vec3 nan_color;

out vec4 color;

void main() {
  // Row 0 of the target is row 0 of the view: the interface draws the texture with its first row on top.
  ivec2 at = ivec2(gl_FragCoord.xy);
  uint bits = texelFetch(view_bits, at.y * view_width + at.x).r;
  if (bits == empty_bits) {
    color = vec4(empty_color, 1.0);
    return;
  }
  if ((bits & 0x7f800000u) == 0x7f800000u && (bits & 0x007fffffu) != 0u) {
    color = vec4(nan_color, 1.0);
    return;
  }
  float value = uintBitsToFloat(bits);
  vec2 ends = range;
  if (logarithmic) {
    value = log2(max(abs(value), range.x));  // zero and what is below the range are its low end
    ends = log2(range);
  }
  float span = ends.y - ends.x;
  float t = span > 0.0 ? clamp((value - ends.x) / span, 0.0, 1.0) : (value > ends.x ? 1.0 : value < ends.x ? 0.0 : 0.5);
  color = vec4(texelFetch(table, ivec2(int(roundEven(t * 255.0)), 0), 0).rgb, 1.0);
}
