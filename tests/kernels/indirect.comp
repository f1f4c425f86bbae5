// SPDX-License-Identifier: MIT
// What an indirect dispatch may change: the grid, and two push constants.
#version 450
layout(local_size_x = 4, local_size_y = 2) in;
layout(binding = 0) buffer Out { uint words[]; };
layout(push_constant) uniform Push { uint base, scale; };

void main()
{
   uvec3 n = gl_NumWorkGroups, id = gl_GlobalInvocationID;
   uint at = id.x + n.x * 4 * (id.y + n.y * 2 * id.z);
   words[at] = base + scale * at + (n.x << 24) + (n.y << 20) + (n.z << 16);
}
