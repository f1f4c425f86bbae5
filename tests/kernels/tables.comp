// SPDX-License-Identifier: MIT
//
// Tables of constants that functions look things up in: of words, of vectors, of halves, of structs;
// the same one by two functions; with unknown, masked and constant indices; one that is written in a
// loop, and one that one thread in two changes (tests/hal/tables_test.c).
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint y[][8]; };

struct Pair {
   uint first;
   uvec2 second;
};

const uint squares[64] = uint[](0u,1u,4u,9u,16u,25u,36u,49u,64u,81u,100u,121u,144u,169u,196u,225u,256u,289u,324u,361u,400u,441u,484u,529u,576u,625u,676u,729u,784u,841u,900u,961u,1024u,1089u,1156u,1225u,1296u,1369u,1444u,1521u,1600u,1681u,1764u,1849u,1936u,2025u,2116u,2209u,2304u,2401u,2500u,2601u,2704u,2809u,2916u,3025u,3136u,3249u,3364u,3481u,3600u,3721u,3844u,3969u);
const uvec4 quads[32] = uvec4[](uvec4(0u,1u,0u,1000u),uvec4(1u,4u,1u,999u),uvec4(2u,7u,4u,998u),uvec4(3u,10u,9u,997u),uvec4(4u,13u,16u,996u),uvec4(5u,16u,25u,995u),uvec4(6u,19u,36u,994u),uvec4(7u,22u,49u,993u),uvec4(8u,25u,64u,992u),uvec4(9u,28u,81u,991u),uvec4(10u,31u,100u,990u),uvec4(11u,34u,121u,989u),uvec4(12u,37u,144u,988u),uvec4(13u,40u,169u,987u),uvec4(14u,43u,196u,986u),uvec4(15u,46u,225u,985u),uvec4(16u,49u,256u,984u),uvec4(17u,52u,289u,983u),uvec4(18u,55u,324u,982u),uvec4(19u,58u,361u,981u),uvec4(20u,61u,400u,980u),uvec4(21u,64u,441u,979u),uvec4(22u,67u,484u,978u),uvec4(23u,70u,529u,977u),uvec4(24u,73u,576u,976u),uvec4(25u,76u,625u,975u),uvec4(26u,79u,676u,974u),uvec4(27u,82u,729u,973u),uvec4(28u,85u,784u,972u),uvec4(29u,88u,841u,971u),uvec4(30u,91u,900u,970u),uvec4(31u,94u,961u,969u));
const uint16_t halves[96] = uint16_t[](0us,5us,10us,15us,20us,25us,30us,35us,40us,45us,50us,55us,60us,65us,70us,75us,80us,85us,90us,95us,100us,105us,110us,115us,120us,125us,130us,135us,140us,145us,150us,155us,160us,165us,170us,175us,180us,185us,190us,195us,200us,205us,210us,215us,220us,225us,230us,235us,240us,245us,250us,255us,260us,265us,270us,275us,280us,285us,290us,295us,300us,305us,310us,315us,320us,325us,330us,335us,340us,345us,350us,355us,360us,365us,370us,375us,380us,385us,390us,395us,400us,405us,410us,415us,420us,425us,430us,435us,440us,445us,450us,455us,460us,465us,470us,475us);
const Pair pairs[24] = Pair[](Pair(2u,uvec2(0u,4u)),Pair(3u,uvec2(7u,13u)),Pair(4u,uvec2(14u,22u)),Pair(5u,uvec2(21u,31u)),Pair(6u,uvec2(28u,40u)),Pair(7u,uvec2(35u,49u)),Pair(8u,uvec2(42u,58u)),Pair(9u,uvec2(49u,67u)),Pair(10u,uvec2(56u,76u)),Pair(11u,uvec2(63u,85u)),Pair(12u,uvec2(70u,94u)),Pair(13u,uvec2(77u,103u)),Pair(14u,uvec2(84u,112u)),Pair(15u,uvec2(91u,121u)),Pair(16u,uvec2(98u,130u)),Pair(17u,uvec2(105u,139u)),Pair(18u,uvec2(112u,148u)),Pair(19u,uvec2(119u,157u)),Pair(20u,uvec2(126u,166u)),Pair(21u,uvec2(133u,175u)),Pair(22u,uvec2(140u,184u)),Pair(23u,uvec2(147u,193u)),Pair(24u,uvec2(154u,202u)),Pair(25u,uvec2(161u,211u)));

uint square(uint i) { return squares[i]; }
uint square_again(uint i) { return squares[i & 63u] + 1u; }

uint changed(uint i, uint which)
{
   uint table[64] = squares;
   if ((i & 1u) != 0u)
      table[which & 63u] = 7u;
   return table[(i >> 1) & 63u];
}

void main()
{
   uint i = gl_GlobalInvocationID.x, v = x[i], sum = 0u;
   y[i][0] = square(v % 64u);
   if ((v & 256u) != 0u)
      sum = square(v >> 26);
   y[i][1] = sum + square_again(v >> 3);
   uvec4 quad = quads[(v >> 5) & 31u];
   y[i][2] = quad.x + 3u * quad.y + 5u * quad.z + 7u * quad.w;
   y[i][3] = uint(halves[v % 96u]) + uint(halves[5]);
   Pair pair = pairs[(v >> 7) % 24u];
   y[i][4] = pair.first ^ pair.second.x ^ (pair.second.y << 8);
   sum = 0u;
   for (uint k = 0u; k < (v & 7u); k++)
      sum += square(k * 9u) + quads[k][k & 3u];
   y[i][5] = sum;
   y[i][6] = changed(v, v >> 8);
   y[i][7] = quads[v & 15u][(v >> 4) & 3u];
}
