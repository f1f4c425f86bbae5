#version 450
// SPDX-License-Identifier: MIT
// Sizes and levels of all kinds of images.
layout(local_size_x = 1) in;
layout(binding = 0) uniform texture2D flat2;
layout(binding = 1) uniform texture2DArray layers;
layout(binding = 2) uniform texture3D solid;
layout(binding = 3) uniform textureCube cube;
layout(binding = 4, r32ui) uniform readonly uimage2DArray stored;
layout(std430, binding = 5) buffer Y { int level, y[]; };
layout(binding = 6) uniform sampler unused;
void main()
{
   ivec2 a = textureSize(sampler2D(flat2, unused), level);
   ivec3 b = textureSize(sampler2DArray(layers, unused), level);
   ivec3 c = textureSize(sampler3D(solid, unused), level);
   ivec2 d = textureSize(samplerCube(cube, unused), level);
   ivec3 e = imageSize(stored);
   y[0] = a.x; y[1] = a.y;
   y[2] = b.x; y[3] = b.y; y[4] = b.z;
   y[5] = c.x; y[6] = c.y; y[7] = c.z;
   y[8] = d.x; y[9] = d.y;
   y[10] = e.x; y[11] = e.y; y[12] = e.z;
   y[13] = textureQueryLevels(sampler2D(flat2, unused));
   y[14] = textureQueryLevels(sampler3D(solid, unused));
}
