#version 450
// SPDX-License-Identifier: MIT
// Samples with an implicit level of detail: it follows from how coordinates change in a quad, along
// x by steps.x and along y by steps.y.
#extension GL_KHR_compute_shader_derivatives : require
#extension GL_ARB_sparse_texture_clamp : require
layout(local_size_x = 8, local_size_y = 4) in;
#ifdef LINEAR
layout(derivative_group_linearKHR) in;
#else
layout(derivative_group_quadsKHR) in;
#endif
layout(binding = 0) uniform sampler2D flat2;
layout(binding = 1) uniform sampler2DShadow depth;
layout(binding = 2) uniform sampler3D solid;
layout(binding = 3) uniform sampler2DArray flats;
layout(binding = 4) uniform samplerCube cube;
layout(binding = 5) uniform sampler1D line;
layout(binding = 6) uniform sampler2DArrayShadow depths;
layout(std430, binding = 7) readonly buffer In { vec4 requests[]; };
layout(std430, binding = 8) writeonly buffer Out { vec4 y[]; };
void main()
{
   // Of the workgroup: a step along x, one along y, a bias and a least level.
   vec4 r = requests[gl_WorkGroupID.x];
#ifdef LINEAR
   vec2 l = vec2(gl_LocalInvocationIndex & 1, gl_LocalInvocationIndex >> 1 & 1);
#else
   vec2 l = vec2(gl_LocalInvocationID.xy);
#endif
   vec2 p = l * r.xy + 0.01;
   uint at = 6 * (gl_WorkGroupID.x * 32 + gl_LocalInvocationIndex);
   y[at] = vec4(texture(flat2, p).x, texture(flat2, p, r.z).x, textureProj(flat2, vec3(p * 2, 2)).x,
                textureProj(flat2, vec4(p * 4, 0, 4), r.z).x);
   y[at + 1] = vec4(texture(depth, vec3(p, 0.5)), texture(depth, vec3(p, 0.5), r.z),
                    textureProj(depth, vec4(p * 2, 1, 2)), texture(depths, vec4(p, 1, 0.5)));
   y[at + 2] = vec4(texture(solid, vec3(p, 0.3)).x, texture(solid, vec3(0.4, p.yx)).x,
                    texture(flats, vec3(p, 1.2)).x, texture(line, p.x).x);
   y[at + 3] = vec4(texture(cube, vec3(p, 1)).x, texture(cube, vec3(p.x, -1, p.y), r.z).x,
                    textureClampARB(flat2, p, r.w).x, textureClampARB(flat2, p, r.w, r.z).x);
   y[at + 4] = vec4(textureQueryLod(flat2, p), textureQueryLod(flats, p));
   vec4 last = vec4(textureQueryLod(cube, vec3(p, 1)), textureOffset(flat2, p, ivec2(3, -2)).x, 0);
   // What follows stands in code that whole quads take.
   if (r.z > 0)
      last.w = textureGradClampARB(flat2, p, vec2(r.x, 0), vec2(0, r.y), r.w).x;
   else
      last.w = texture(solid, vec3(p, 0.7), r.z).x;
   y[at + 5] = last;
}
