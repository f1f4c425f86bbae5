// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer In { int a[]; };
layout(set = 0, binding = 1) writeonly buffer Out { int r[][24]; };
void main()
{
   uint i = gl_GlobalInvocationID.x;
   int x = a[2 * i], y = a[2 * i + 1];
   uint ux = uint(x), uy = uint(y), carry, low;
   int slow, shigh;
   r[i][0] = int(uaddCarry(ux, uy, carry));
   r[i][1] = int(carry);
   r[i][2] = int(usubBorrow(ux, uy, carry));
   r[i][3] = int(carry);
   umulExtended(ux, uy, carry, low);
   r[i][4] = int(carry);
   imulExtended(x, y, shigh, slow);
   r[i][5] = shigh;
   r[i][6] = slow;
   r[i][7] = bitfieldExtract(x, 5, 9);
   r[i][8] = int(bitfieldExtract(ux, 5, 9));
   r[i][9] = bitfieldInsert(x, y, 3, 7);
   r[i][10] = findLSB(x);
   r[i][11] = findMSB(x);
   r[i][12] = findMSB(ux);
   r[i][13] = bitCount(x) + bitfieldReverse(y);
   r[i][14] = abs(x) + sign(y);
   r[i][15] = min(x, y) ^ int(max(ux, uy));
   r[i][16] = clamp(x, -100, 100) + int(clamp(uy, 5u, 50u));
   r[i][17] = y != 0 ? x / y : 0;
   r[i][18] = y != 0 ? int(ux / uy) : 0;
   r[i][19] = x >> (y & 31);
   r[i][20] = int(ux >> (y & 31)) | (x << (y & 7));
   r[i][21] = (x < y ? 1 : 0) | (ux < uy ? 2 : 0) | (x >= y ? 4 : 0) | (ux <= uy ? 8 : 0);
   r[i][22] = ~x & (x | y);
   r[i][23] = any(lessThan(ivec2(x, y), ivec2(y, 3))) && !all(equal(ivec2(x, 1), ivec2(y))) ? 1 : 0;
}
