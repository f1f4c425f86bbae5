// SPDX-License-Identifier: MIT
// Writes what an indirect dispatch reads: counts, then arguments.
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Out { uint words[]; };
layout(push_constant) uniform Push { uint x, y, z, base, scale; };

void main()
{
   words[0] = x;
   words[1] = y;
   words[2] = z;
   words[3] = base;
   words[4] = scale;
}
