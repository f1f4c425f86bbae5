// SPDX-License-Identifier: MIT
#version 450
layout(local_size_x = 1) in;
struct Item { mat2x3 m; float f; };
layout(set = 0, binding = 0, std140) uniform U
{
   layout(row_major) mat3 rows;
   mat3 columns;
   float list[3];
   Item items[2];
   layout(row_major) mat4x2 wide;
};
layout(set = 0, binding = 1, std430) writeonly buffer Out
{
   mat3 product;
   mat3 turned;
   mat3 inverted;
   layout(row_major) mat2x3 picked;
   vec3 moved;
   float values[8];
};
void main()
{
   uint i = gl_WorkGroupID.x;
   product = rows * columns;
   turned = transpose(rows);
   inverted = inverse(columns);
   picked = items[i + 1].m;
   moved = vec3(1, 2, 3) * columns + rows[i];
   values[0] = determinant(columns);
   values[1] = list[2] + items[1].f;
   values[2] = dot(wide[2], wide[i + 3]);
   values[3] = outerProduct(vec2(2, 3), vec3(4, 5, 6))[2].y;
   values[4] = (columns * 2.0)[1][i + 2];
   values[5] = determinant(mat4(2, 0, 0, 1, 0, 3, 0, 0, 0, 0, 4, 0, 1, 0, 0, 5));
   values[6] = inverse(mat4(2, 0, 0, 1, 0, 3, 0, 0, 0, 0, 4, 0, 1, 0, 0, 5))[3][0];
   values[7] = rows[i + 1][i + 2];
}
