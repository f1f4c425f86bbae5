#version 450
// SPDX-License-Identifier: MIT
// As row_sums.comp, of a matrix that is stored column by column.
layout(local_size_x = 64) in;
layout(push_constant) uniform Size { uint rows, columns; };
layout(set = 0, binding = 0, std430) readonly buffer Matrix { float matrix[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Sums { float sums[]; };
void main()
{
    uint row = gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (uint column = 0; column < columns; column++)
        sum += matrix[column * rows + row];
    sums[row] = sum;
}
