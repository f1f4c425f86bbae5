/* SPDX-License-Identifier: MIT
 *
 * Names of opcodes and enumerants for messages, from name.def. Callers are the reader and the files
 * that refuse something.
 */
#include "agx/compiler/spirv/reader_impl.h"

enum name_table {
   OPCODE,
   CAPABILITY,
   STORAGE,
   BUILTIN,
   DECORATION,
   MODE,
   GLSL,
};

static const struct {
   uint16_t table, number;
   const char *text;
} names[] = {
#define NAME(table, number, text) {table, number, #text},
#include "agx/compiler/spirv/name.def"
#undef NAME
};

static const char *find_name(enum name_table table, uint32_t number)
{
   size_t low = 0, high = AGX_COUNT(names);
   while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (names[middle].table == table && names[middle].number == number)
         return names[middle].text;
      if (names[middle].table < table ||
          (names[middle].table == table && names[middle].number < number))
         low = middle + 1;
      else
         high = middle;
   }
   return "?";
}

const char *agxc_spv_opcode_name(uint32_t opcode)
{
   return find_name(OPCODE, opcode);
}

const char *agxc_spv_capability_name(uint32_t value)
{
   return find_name(CAPABILITY, value);
}

const char *agxc_spv_storage_name(uint32_t value)
{
   return find_name(STORAGE, value);
}

const char *agxc_spv_builtin_name(uint32_t value)
{
   return find_name(BUILTIN, value);
}

const char *agxc_spv_decoration_name(uint32_t value)
{
   return find_name(DECORATION, value);
}

const char *agxc_spv_mode_name(uint32_t value)
{
   return find_name(MODE, value);
}

const char *agxc_spv_glsl_name(uint32_t value)
{
   return find_name(GLSL, value);
}
