/* SPDX-License-Identifier: MIT
 *
 * The tables name.def and opcode_name.def: names of enumerants and opcodes for messages, and which
 * enumerants the front end takes. Callers are the reader and the files that refuse something.
 */
#include "agx/compiler/spirv/reader_impl.h"

#define IN_COMPUTE 1
#define IN_VERTEX  2

struct name {
   uint8_t table, stages; /* stages: those that take it */
   uint16_t number;
   const char *text;
};

static const struct name names[] = {
#define NAME(table, number, text) {AGXC_SPV_NAME_##table, 0, number, #text},
#define COMP(table, number, text) {AGXC_SPV_NAME_##table, IN_COMPUTE, number, #text},
#define VERT(table, number, text) {AGXC_SPV_NAME_##table, IN_VERTEX, number, #text},
#define TAKE(table, number, text) {AGXC_SPV_NAME_##table, IN_COMPUTE | IN_VERTEX, number, #text},
#include "agx/compiler/spirv/opcode_name.def"
#include "agx/compiler/spirv/name.def"
#undef NAME
#undef COMP
#undef VERT
#undef TAKE
};

static const struct name *find(enum agxc_spv_name_table table, uint32_t number)
{
   size_t low = 0, high = AGX_COUNT(names);
   while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (names[middle].table == table && names[middle].number == number)
         return &names[middle];
      if (names[middle].table < table ||
          (names[middle].table == table && names[middle].number < number))
         low = middle + 1;
      else
         high = middle;
   }
   return NULL;
}

const char *agxc_spv_name(enum agxc_spv_name_table table, uint32_t number)
{
   const struct name *name = find(table, number);
   return name ? name->text : "?";
}

bool agxc_spv_takes(const struct agxc_spv *s, enum agxc_spv_name_table table, uint32_t number)
{
   const struct name *name = find(table, number);
   return name && (name->stages & (s->shader->is_vertex ? IN_VERTEX : IN_COMPUTE));
}
