/* SPDX-License-Identifier: MIT
 *
 * Constant tables in memory of the program, or written once. A function that looks something up in
 * an array of constants writes the array to a private variable first, and each inlined copy of the
 * function does so again. Where every store to a variable writes constants, and all stores to a
 * byte the same one, loads at dynamic offsets from a long one read data of the program, and nothing
 * is stored:
 *
 *    before   store_private #0, #7   store_private #4, #8 ..   load_private %offset
 *    after    load_global u6l, %offset
 *
 * The offset is bounded, since behind the data no memory may be mapped.
 *
 * Of a short one a store says nothing new when others have written all of its bytes on every way
 * to it.
 *
 *    before   store_private #0, #7   load_private %i   if  store_private #0, #7  load_private %j
 *    after    store_private #0, #7   load_private %i   if  load_private %j
 *
 * Such a variable begins once, too: bytes that were undefined from there on keep what they have.
 * Only where it first begins in front of everything else that is about it.
 *
 * Before and after: generic SSA. Stands where opt_private_stores stands, and in front of it: that
 * pass looks at one block at a time.
 */
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/analysis/range.h"
#include "agx/compiler/ir/dominance.h"
#include "agx/compiler/ir/launch_slots.h"
#include "agx/compiler/opt/opt.h"

#define MAX_VARIABLES 4096u
/* Of shorter tables, choosing among constants costs less than a load. */
#define MIN_DATA_B 128u

struct byte {
   bool is_known;
   uint8_t value;
   const struct agxc_block *written; /* the last block that writes it */
};

struct table {
   uint32_t bytes; /* 0: not followed */
   bool varies, is_indexed;
   bool has_odd_loads;             /* of widths that memory lacks */
   struct agxc_ref address;        /* of the data, or AGXC_NONE */
   const struct agxc_instr *begin; /* the first */
   struct byte *content;
};

struct tables {
   struct agxc_shader *shader;
   struct agxc_dominance *dominance;
   struct table *of; /* by variable */
   struct agxc_ranges *ranges;
   bool has_stores, has_data, progress;
};

static bool is_private(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_LOAD_PRIVATE || instr->op == AGXC_OP_STORE_PRIVATE ||
          instr->op == AGXC_OP_PRIVATE;
}

/* The table that a PRIVATE, a load or a store is about, or NULL. */
static struct table *table_of(const struct tables *tables, const struct agxc_instr *instr)
{
   uint64_t variable = agxc_imm_variable(instr);
   struct table *table = variable < MAX_VARIABLES ? &tables->of[variable] : NULL;
   return table && table->bytes && !table->varies ? table : NULL;
}

/* ---- what tables there are ------------------------------------------------ */

static void note_size(struct tables *tables, const struct agxc_instr *instr)
{
   uint64_t variable = agxc_imm_variable(instr), size_B = agxc_imm_size_B(instr);
   if (!tables->of)
      tables->of = AGX_ARENA_ARRAY(tables->shader->arena, struct table, MAX_VARIABLES);
   if (variable >= MAX_VARIABLES || size_B > AGX_PROGRAM_MAX_SCRATCH_B)
      return;
   struct table *table = &tables->of[variable];
   table->bytes = AGX_MAX(table->bytes, (uint32_t)size_B);
}

/* Element i of what is stored: a constant, or AGXC_NONE. */
static struct agxc_ref constant_of(const struct agxc_ref *data, unsigned i)
{
   struct agxc_ref ref = agxc_skip_moves(*data);
   const struct agxc_instr *collect = agxc_def_as(ref, AGXC_OP_COLLECT);
   if (data->count > 1)
      ref = collect ? agxc_skip_moves(*agxc_element(collect, i)) : agxc_none();
   return ref.kind == AGXC_IMM ? ref : agxc_none();
}

/* Sets what bytes a store at a constant offset writes; false for any other store. */
static bool find_bytes(const struct table *table, const struct agxc_instr *store,
                       uint32_t *out_first, uint32_t *out_element_B)
{
   const struct agxc_ref *offset = agxc_src_offset(store), *data = agxc_src_data(store);
   *out_element_B = AGX_MAX(data->bits, 8) / 8u;
   uint64_t bytes = (uint64_t)*out_element_B * AGX_MAX(data->count, 1);
   *out_first = (uint32_t)offset->imm;
   return offset->kind == AGXC_IMM && *out_first + bytes <= table->bytes;
}

static bool note_byte(struct byte *byte, uint8_t value)
{
   bool is_same = !byte->is_known || byte->value == value;
   byte->is_known = true;
   byte->value = value;
   return is_same;
}

static void note_store(struct tables *tables, const struct agxc_instr *store)
{
   struct table *table = table_of(tables, store);
   uint32_t first, element_B;
   if (!table)
      return;
   table->varies = !find_bytes(table, store, &first, &element_B);
   if (table->varies)
      return;
   if (!table->content)
      table->content = AGX_ARENA_ARRAY(tables->shader->arena, struct byte, table->bytes);
   const struct agxc_ref *data = agxc_src_data(store);
   for (unsigned i = 0; i < AGX_MAX(data->count, 1) && !table->varies; i++) {
      struct agxc_ref element = constant_of(data, i);
      table->varies = element.kind == AGXC_NONE;
      for (uint32_t byte = 0; byte < element_B && !table->varies; byte++)
         table->varies = !note_byte(&table->content[first + i * element_B + byte],
                                    (uint8_t)((uint64_t)element.imm >> 8 * byte));
   }
   tables->has_stores = true;
}

/* ---- data of the program --------------------------------------------------- */

static void note_load(const struct tables *tables, const struct agxc_instr *load)
{
   struct table *table = table_of(tables, load);
   const struct agxc_ref *dest = agxc_dest(load);
   if (!table)
      return;
   table->is_indexed |= agxc_src_offset(load)->kind != AGXC_IMM;
   table->has_odd_loads |=
      (dest->bits != 8 && dest->bits != 16 && dest->bits != 32) || dest->count > 4 ||
      (agxc_src_offset(load)->kind == AGXC_IMM &&
       (uint64_t)(uint32_t)agxc_src_offset(load)->imm + dest->bits / 8u * dest->count >
          table->bytes);
}

static void make_data(struct tables *tables)
{
   for (uint32_t i = 0; i < MAX_VARIABLES; i++) {
      struct table *table = &tables->of[i];
      if (!table->content || table->varies || !table->is_indexed || table->has_odd_loads ||
          table->bytes < MIN_DATA_B)
         continue;
      uint8_t *bytes = AGX_ARENA_ARRAY(tables->shader->arena, uint8_t, table->bytes);
      for (uint32_t at = 0; at < table->bytes; at++)
         bytes[at] = table->content[at].value;
      tables->has_data |= agxc_data_add(tables->shader, bytes, table->bytes, &table->address);
   }
}

/* The offset, or where it isn't known to be at most `last`, another one that is. */
static struct agxc_ref bound(struct tables *tables, struct agxc_builder *b, struct agxc_ref offset,
                             uint32_t last)
{
   if (agxc_range_max(tables->ranges, &offset) <= last)
      return offset;
   uint32_t added = 0;
   const struct agxc_instr *product = agxc_def_of(agxc_offset_root(offset, &added));
   uint64_t factor = product ? agxc_offset_factor(product) : 0;
   if (!factor || added > last)
      return agxc_build_umin(b, offset, agxc_u32(last));
   struct agxc_ref most = agxc_u32((uint32_t)((last - added) / factor));
   struct agxc_ref index = agxc_build_umin(b, *agxc_src_a(product), most);
   index = agxc_build_imul(b, index, agxc_u32((uint32_t)factor));
   return added ? agxc_build_iadd(b, index, agxc_u32(added)) : index;
}

static void read_data(struct tables *tables, struct agxc_instr *instr)
{
   const struct table *table = table_of(tables, instr);
   if (!table || table->address.kind == AGXC_NONE)
      return;
   if (instr->op == AGXC_OP_LOAD_PRIVATE) {
      const struct agxc_ref dest = *agxc_dest(instr);
      struct agxc_builder b = agxc_before(tables->shader, instr);
      struct agxc_ref offset =
         bound(tables, &b, *agxc_src_offset(instr), table->bytes - dest.bits / 8u * dest.count);
      agxc_define_as(agxc_build_load_global(&b, dest.bits, dest.count, table->address, offset,
                                            AGXC_ACCESS_CONST | AGXC_ACCESS_RESTRICT),
                     dest);
   }
   agxc_instr_remove(instr);
   tables->progress = true;
}

static void use_data(struct tables *tables)
{
   agxc_foreach_instr_of (instr, tables->shader)
      if (instr->op == AGXC_OP_LOAD_PRIVATE)
         note_load(tables, instr);
   make_data(tables);
   if (!tables->has_data)
      return;
   tables->ranges = agxc_ranges_compute(tables->shader);
   agxc_foreach_instr_of_safe (instr, tables->shader)
      if (is_private(instr))
         read_data(tables, instr);
}

/* ---- writing them once ----------------------------------------------------- */

static void visit_store(struct tables *tables, struct agxc_instr *store)
{
   const struct table *table = table_of(tables, store);
   const struct agxc_ref *data = agxc_src_data(store);
   uint32_t first, element_B;
   bool is_written = true;
   if (!table || !find_bytes(table, store, &first, &element_B))
      return;
   uint32_t end = first + element_B * AGX_MAX(data->count, 1);
   for (; first < end; first++) {
      struct byte *byte = &table->content[first];
      if (byte->written &&
          agxc_dominates(tables->dominance, byte->written->index, store->block->index))
         continue;
      byte->written = store->block;
      is_written = false;
   }
   if (!is_written)
      return;
   agxc_instr_remove(store);
   tables->progress = true;
}

/* Gives up a variable that its first beginning does not dominate all of. */
static void check_begin(const struct tables *tables, const struct agxc_instr *instr)
{
   struct table *table = table_of(tables, instr);
   if (!table)
      return;
   if (!table->begin && instr->op == AGXC_OP_PRIVATE)
      table->begin = instr;
   table->varies = !table->begin || !agxc_dominates(tables->dominance, table->begin->block->index,
                                                    instr->block->index);
}

static void visit_begin(const struct tables *tables, struct agxc_instr *instr)
{
   const struct table *table = table_of(tables, instr);
   if (table && table->begin != instr)
      agxc_instr_remove(instr);
}

bool agxc_opt_private_tables(struct agxc_shader *shader)
{
   struct tables tables = {.shader = shader};
   agxc_foreach_instr_of (instr, shader)
      if (instr->op == AGXC_OP_PRIVATE)
         note_size(&tables, instr);
   if (!tables.of)
      return false;
   agxc_foreach_instr_of (instr, shader)
      if (instr->op == AGXC_OP_STORE_PRIVATE)
         note_store(&tables, instr);
   if (!tables.has_stores)
      return false;
   use_data(&tables);
   agxc_index(shader);
   tables.dominance = agxc_dominance_compute(shader);
   agxc_foreach_instr_of (instr, shader)
      if (is_private(instr))
         check_begin(&tables, instr);
   agxc_foreach_instr_of_safe (instr, shader) {
      if (instr->op == AGXC_OP_PRIVATE)
         visit_begin(&tables, instr);
      else if (instr->op == AGXC_OP_STORE_PRIVATE)
         visit_store(&tables, instr);
   }
   return tables.progress;
}
