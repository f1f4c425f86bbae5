/* SPDX-License-Identifier: MIT
 *
 * Which memory an instruction touches, and when two accesses are certainly apart: the same
 * base and the same index but for a constant. Different bases may be the same memory.
 */
#include "agx/compiler/schedule/schedule_impl.h"

/* Rows that access memory, with the operands that say where. NO_OPERAND: there is none. */
#define NO_OPERAND 255
static const struct access {
   uint16_t row;
   uint8_t memory; /* enum agxc_memory */
   uint8_t base, index, shift, format, mask, coherency;
} accesses[] = {
   {AGX_ISA_OP_LOAD, AGXC_MEMORY_DEVICE, AGX_ISA_LOAD_BASE, AGX_ISA_LOAD_INDEX, AGX_ISA_LOAD_SHIFT,
    AGX_ISA_LOAD_FORMAT, AGX_ISA_LOAD_MASK, AGX_ISA_LOAD_COHERENCY},
   {AGX_ISA_OP_STORE, AGXC_MEMORY_DEVICE | AGXC_MEMORY_WRITES, AGX_ISA_STORE_BASE,
    AGX_ISA_STORE_INDEX, AGX_ISA_STORE_SHIFT, AGX_ISA_STORE_FORMAT, AGX_ISA_STORE_MASK,
    AGX_ISA_STORE_COHERENCY},
   {AGX_ISA_OP_LLOAD, AGXC_MEMORY_LOCAL, AGX_ISA_LLOAD_BASE, AGX_ISA_LLOAD_INDEX, NO_OPERAND,
    AGX_ISA_LLOAD_FORMAT, AGX_ISA_LLOAD_MASK, NO_OPERAND},
   {AGX_ISA_OP_LSTORE, AGXC_MEMORY_LOCAL | AGXC_MEMORY_WRITES, AGX_ISA_LSTORE_BASE,
    AGX_ISA_LSTORE_INDEX, NO_OPERAND, AGX_ISA_LSTORE_FORMAT, AGX_ISA_LSTORE_MASK, NO_OPERAND},
   {AGX_ISA_OP_STACK_LOAD, AGXC_MEMORY_STACK, NO_OPERAND, AGX_ISA_STACK_LOAD_INDEX,
    AGX_ISA_STACK_LOAD_SHIFT, AGX_ISA_STACK_LOAD_FORMAT, AGX_ISA_STACK_LOAD_MASK, NO_OPERAND},
   {AGX_ISA_OP_STACK_STORE, AGXC_MEMORY_STACK | AGXC_MEMORY_WRITES, NO_OPERAND,
    AGX_ISA_STACK_STORE_INDEX, AGX_ISA_STACK_STORE_SHIFT, AGX_ISA_STACK_STORE_FORMAT,
    AGX_ISA_STACK_STORE_MASK, NO_OPERAND},
};

static const struct access *find_access(const struct agxc_instr *instr)
{
   for (size_t i = 0; i < AGX_COUNT(accesses); i++)
      if (agxc_is_row(instr, accesses[i].row))
         return &accesses[i];
   return NULL;
}

/* Rows that touch one kind of memory but have no place that could be compared, and rows
 * that write what nothing in the same program reads. */
static const struct {
   uint16_t row;
   uint8_t memory;
} others[] = {
   {AGX_ISA_OP_ATOMIC, AGXC_MEMORY_DEVICE | AGXC_MEMORY_WRITES},
   {AGX_ISA_OP_LATOMIC, AGXC_MEMORY_LOCAL | AGXC_MEMORY_WRITES},
   {AGX_ISA_OP_UNIFORM_STORE, AGXC_MEMORY_NONE},
};

unsigned agxc_memory_of(const struct agxc_instr *instr)
{
   const struct access *access = find_access(instr);
   if (access) {
      bool is_coherent = access->coherency == NO_OPERAND
                            ? instr->exact
                            : instr->operand[access->coherency].imm != 0;
      return access->memory | (is_coherent ? AGXC_MEMORY_WRITES : 0);
   }
   for (size_t i = 0; i < AGX_COUNT(others); i++)
      if (agxc_is_row(instr, others[i].row))
         return others[i].memory;
   /* Textures are not written while they are read, unless the row says so. */
   if (agxc_is_row(instr, AGX_ISA_OP_SMPF) ||
       (agxc_is_row(instr, AGX_ISA_OP_SMPI) && !instr->operand[AGX_ISA_SMPI_RW].imm))
      return AGXC_MEMORY_NONE;
   if (agxc_is_row(instr, AGX_ISA_OP_SMPI))
      return AGXC_MEMORY_DEVICE;
   if (agxc_is_row(instr, AGX_ISA_OP_IMGW))
      return AGXC_MEMORY_DEVICE | AGXC_MEMORY_WRITES;
   unsigned flags = agxc_flags(instr);
   if (flags & AGXC_SIDE_EFFECT)
      return AGXC_MEMORY_ALL | AGXC_MEMORY_WRITES;
   return flags & AGXC_READS_MEMORY ? AGXC_MEMORY_ALL : AGXC_MEMORY_NONE;
}

/* ---- places ------------------------------------------------------------ */

struct place {
   struct agxc_ref root; /* NONE: the constant is all */
   uint32_t constant;    /* wraps; in units */
   uint32_t unit_B, size_B;
};

static bool same_ref(const struct agxc_ref *a, const struct agxc_ref *b)
{
   if (a->kind != b->kind || a->bits != b->bits || a->sx != b->sx)
      return false;
   switch (a->kind) {
   case AGXC_NONE:
      return true;
   case AGXC_VALUE:
      return a->value == b->value;
   case AGXC_UNIFORM:
      return a->half == b->half;
   default:
      return false;
   }
}

static uint32_t element_B(int64_t format)
{
   switch (format) {
   case AGX_ISA_FORMAT_I8:
      return 1;
   case AGX_ISA_FORMAT_I16:
      return 2;
   case AGX_ISA_FORMAT_I32:
      return 4;
   default:
      return 16; /* packed formats: more than any of them */
   }
}

/* Takes a constant off: `iadd root, constant` as 32 bits. */
static void peel(struct place *place)
{
   if (place->root.kind != AGXC_VALUE || place->root.bits != 32 || !place->root.value->def)
      return;
   const struct agxc_instr *def = place->root.value->def;
   if (!agxc_is_row(def, AGX_ISA_OP_IADD) || def->operand[AGX_ISA_IADD_B].kind != AGXC_IMM ||
       def->operand[AGX_ISA_IADD_A].bits != 32 || def->operand[AGX_ISA_IADD_SHIFT].imm != 0 ||
       def->operand[AGX_ISA_IADD_SAT].imm != 0)
      return;
   place->constant += (uint32_t)def->operand[AGX_ISA_IADD_B].imm;
   place->root = def->operand[AGX_ISA_IADD_A];
}

static struct place place_of(const struct agxc_instr *instr, const struct access *access)
{
   const struct agxc_ref *index = &instr->operand[access->index];
   bool is_local = access->memory & AGXC_MEMORY_LOCAL;
   uint32_t element = element_B(instr->operand[access->format].imm), shift = 0;
   if (access->shift != NO_OPERAND)
      shift = (uint32_t)instr->operand[access->shift].imm;
   unsigned mask = (unsigned)instr->operand[access->mask].imm;
   struct place place = {.root = *index, .unit_B = element << shift};
   place.size_B = element * (uint32_t)(32 - __builtin_clz(mask | 1));
   if (access->memory & AGXC_MEMORY_STACK)
      place.unit_B = 1; /* bytes, whatever the format */
   if (index->kind == AGXC_IMM) {
      place.root = agxc_none();
      place.constant = (uint32_t)index->imm;
   } else if (!is_local) {
      peel(&place);
   }
   return place;
}

bool agxc_memory_apart(const struct agxc_instr *a, const struct agxc_instr *b)
{
   const struct access *access[2] = {find_access(a), find_access(b)};
   if (!access[0] || !access[1])
      return false;
   if ((access[0]->memory & access[1]->memory & AGXC_MEMORY_ALL) == 0)
      return true;
   if (access[0]->base != NO_OPERAND &&
       !same_ref(&a->operand[access[0]->base], &b->operand[access[1]->base]))
      return false;
   struct place first = place_of(a, access[0]), second = place_of(b, access[1]);
   if (first.unit_B != second.unit_B || !same_ref(&first.root, &second.root))
      return false;
   uint64_t ahead = (uint64_t)(second.constant - first.constant) * first.unit_B;
   uint64_t behind = (uint64_t)(first.constant - second.constant) * first.unit_B;
   return ahead >= first.size_B && behind >= second.size_B;
}
