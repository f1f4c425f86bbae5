#version 450
// SPDX-License-Identifier: MIT
// Outputs without captures: the position, then by location.
// Declared only.
layout(set = 9, binding = 0) buffer Unused { uint unused[]; };
layout(location = 1) in vec3 place;
layout(location = 4) in float scale;
layout(location = 5) out vec2 second;
layout(location = 2) out uint first;
void main() {
   gl_Position = vec4(place * scale, 1.0);
   second = place.xy;
   first = uint(gl_VertexIndex);
}
