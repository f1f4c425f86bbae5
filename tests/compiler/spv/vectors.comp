// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { vec4 a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { float r[][16]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   vec3 v = a[i].xyz, n = normalize(a[i].wzy + vec3(5));
   r[i][0] = length(v);
   r[i][1] = distance(v, n);
   r[i][2] = cross(v, n).y;
   r[i][3] = normalize(v + vec3(9)).z;
   r[i][4] = faceforward(n, v, n).x;
   r[i][5] = reflect(v, n).z;
   r[i][6] = refract(normalize(v + vec3(8)), n, 0.7).x;
   r[i][7] = refract(normalize(v + vec3(8)), -n, 1.9).y;
   r[i][8] = dot(a[i], a[i].wxyz);
   r[i][9] = unpackHalf2x16(packHalf2x16(v.xy)).y;
   r[i][10] = unpackUnorm4x8(packUnorm4x8(a[i])).w;
   r[i][11] = unpackSnorm4x8(packSnorm4x8(a[i])).x;
   r[i][12] = unpackUnorm2x16(packUnorm2x16(v.yz)).x;
   r[i][13] = unpackSnorm2x16(packSnorm2x16(v.xz)).y;
   r[i][14] = mix(v, n, greaterThan(v, n)).y;
   v.zx = n.xy;
   r[i][15] = v.x * 3 + v.z;
}
