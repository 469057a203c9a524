#version 450 core
// One triangle that covers the target; the fragment shader addresses view pixels by gl_FragCoord.
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
}
