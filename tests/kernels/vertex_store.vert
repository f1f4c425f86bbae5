#version 450
// SPDX-License-Identifier: MIT
// A buffer besides the attributes: the place of what each vertex adds lies outside for most.
layout(set = 0, binding = 0) buffer Counts { uint counts[]; };
layout(location = 0) in uint place;
layout(location = 0) out uint old;
void main() {
   old = counts[gl_VertexIndex];
   atomicAdd(counts[place], 1u);
}
