#version 450
// SPDX-License-Identifier: MIT
// One attribute, passed through.
layout(location = 0) in vec4 a;
layout(location = 0) out vec4 o;
void main() { o = a; }
