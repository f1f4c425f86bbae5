/* SPDX-License-Identifier: MIT
 *
 * Private variables become values or memory. One whose offsets are all constant becomes SSA values.
 * One with a dynamic offset does too when choosing among its elements with selects is cheaper than
 * going to memory. Words of any other lie in workgroup memory when it has room for all threads,
 * word i of every thread beside each other, which is near and never in conflict about a bank; what
 * is left lies in scratch memory.
 *
 * Before: PRIVATE, LOAD_PRIVATE, STORE_PRIVATE. After: none of them. The pass stands behind
 * opt_unroll, which makes offsets constant, and in front of the passes that join and move loads and
 * stores, which know workgroup and scratch memory only.
 */
#include <string.h>

#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/lower/lower.h"
#include "agx/compiler/ir/ssa.h"
#include "agx/compiler/ir/launch_slots.h"

/* Costs in issued instructions. A load from scratch memory also waits; other SIMD-groups
 * run meanwhile, which the figure is for. Tuned on private_array and small stacks. */
#define COST_ACCESS    3
#define COST_LOAD_WAIT 12
#define COST_NEAR_WAIT 3 /* workgroup memory */
/* Threads of a core that must still find room in its workgroup memory: half of full occupancy. */
#define MIN_RESIDENT 512u
/* Elements that are worth registers at all when something indexes them. */
#define MAX_INDEXED_ELEMENTS 64
#define MAX_VARIABLES        65536
#define MAX_OFFSET_DEPTH     8

struct variable {
   uint32_t bytes;
   bool is_loaded, is_indexed, in_memory, in_workgroup;
   bool is_odd;                   /* not made of words */
   uint64_t ladder, memory, near; /* costs */
   uint8_t *bits;                 /* by byte: width of the element that starts there, or 0 */
   uint32_t *slot;                /* by byte */
   uint32_t elements;
   uint32_t memory_at;
   struct agxc_ref own; /* in workgroup memory: the thread's first word */
};

struct lowering {
   struct agxc_shader *shader;
   struct variable *variables;
   uint32_t count;
   struct agxc_ssa *ssa;
   struct access *accesses; /* in program order: what the survey saw must be what is lowered */
   uint32_t access_count;
};

/* An access: what offsets it may have, and how to ask for one of them. */
struct access {
   struct variable *var;
   const struct agxc_ref *offset, *data; /* data: what is loaded or stored */
   uint32_t element_B, bytes;
   bool is_dynamic;
   uint32_t first, step, choices; /* offsets first + i * step, i < choices */
   struct agxc_ref index;         /* dynamic: equals index_first + i * index_step for choice i */
   uint32_t index_first, index_step;
};

static bool is_private(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_LOAD_PRIVATE || instr->op == AGXC_OP_STORE_PRIVATE ||
          instr->op == AGXC_OP_PRIVATE;
}

/* ---- offsets ---------------------------------------------------------- */

/* offset = residue + multiple of modulus; modulus 0: the residue itself. Arithmetic does not
 * wrap for offsets inside the variable, and others are undefined. */
struct progression {
   int64_t modulus, residue;
};

static int64_t greatest_divisor(int64_t a, int64_t b)
{
   while (b) {
      int64_t rest = a % b;
      a = b;
      b = rest;
   }
   return a;
}

static struct progression progression_of(const struct agxc_ref *ref, unsigned depth)
{
   const struct progression any = {1, 0};
   if (ref->kind == AGXC_IMM)
      return (struct progression){0, (int32_t)ref->imm};
   const struct agxc_instr *def = agxc_def_of(*ref);
   if (!def || depth == MAX_OFFSET_DEPTH)
      return any;
   struct progression a, b;
   switch (def->op) {
   case AGXC_OP_MOV:
      return progression_of(agxc_src_a(def), depth + 1);
   case AGXC_OP_IADD:
      a = progression_of(agxc_src_a(def), depth + 1);
      b = progression_of(agxc_src_b(def), depth + 1);
      return (struct progression){greatest_divisor(a.modulus, b.modulus), a.residue + b.residue};
   case AGXC_OP_IAND: /* a mask clears low bits */
      if (agxc_src_b(def)->kind != AGXC_IMM || (agxc_src_b(def)->imm & 0xffff) == 0)
         return any;
      return (struct progression){1ll << __builtin_ctz((uint32_t)agxc_src_b(def)->imm), 0};
   case AGXC_OP_ISHL:
   case AGXC_OP_IMUL:
      if (agxc_offset_factor(def) == 0 || agxc_offset_factor(def) > 65536)
         return any;
      int64_t factor = (int64_t)agxc_offset_factor(def);
      a = progression_of(agxc_src_a(def), depth + 1);
      if (a.modulus > 1 << 20 || a.residue > 1 << 20 || a.residue < -(1 << 20))
         return any;
      return (struct progression){a.modulus * factor, a.residue * factor};
   default:
      return any;
   }
}

/* The index in index * step + constant, so that no multiplication is needed. */
static void find_index(struct access *access)
{
   uint32_t added = 0;
   const struct agxc_instr *product = agxc_def_of(agxc_offset_root(*access->offset, &added));
   int64_t from = (int64_t)access->first - (int32_t)added;
   access->index = *access->offset;
   access->index_first = access->first;
   access->index_step = access->step;
   if (!product || agxc_offset_factor(product) != access->step || from % access->step)
      return;
   access->index = *agxc_src_a(product);
   access->index_first = (uint32_t)(from / access->step);
   access->index_step = 1;
}

static struct access access_of(struct lowering *l, const struct agxc_instr *instr)
{
   bool is_load = instr->op == AGXC_OP_LOAD_PRIVATE;
   struct access access = {
      .var = &l->variables[agxc_imm_variable(instr)],
      .offset = agxc_src_offset(instr),
      .data = is_load ? agxc_dest(instr) : agxc_src_data(instr),
   };
   access.element_B = AGX_MAX(access.data->bits, 8) / 8u;
   access.bytes = access.element_B * AGX_MAX(access.data->count, 1);
   struct progression p = progression_of(access.offset, 0);
   access.is_dynamic = access.offset->kind == AGXC_VALUE;
   access.step = p.modulus > 0 ? (uint32_t)AGX_MIN(p.modulus, 1 << 20) : access.element_B;
   int64_t first = p.modulus > 0 ? p.residue % access.step : p.residue;
   if (first < 0 && p.modulus > 0)
      first += access.step;
   access.first = (uint32_t)AGX_MIN((uint64_t)first, (uint64_t)UINT32_MAX);
   uint32_t room = access.var->bytes >= access.bytes ? access.var->bytes - access.bytes + 1 : 0;
   if (access.first < room)
      access.choices = p.modulus > 0 ? (room - access.first - 1) / access.step + 1 : 1;
   return access;
}

/* ---- survey ------------------------------------------------------------ */

static void count_variables(struct lowering *l)
{
   agxc_foreach_instr_of (instr, l->shader) {
      if (!is_private(instr))
         continue;
      uint64_t index = agxc_imm_variable(instr);
      if (index >= MAX_VARIABLES)
         agxc_fail(l->shader, AGX_RESOURCE_EXHAUSTED, "%s: more than %u indexed variables",
                   l->shader->name, MAX_VARIABLES);
      l->count = AGX_MAX(l->count, (uint32_t)index + 1);
   }
   l->variables = AGX_ARENA_ARRAY(l->shader->arena, struct variable, AGX_MAX(l->count, 1u));
   agxc_foreach_instr_of (instr, l->shader)
      if (instr->op == AGXC_OP_PRIVATE) {
         struct variable *var = &l->variables[agxc_imm_variable(instr)];
         uint64_t bytes = agxc_imm_size_B(instr);
         if (bytes > AGX_PROGRAM_MAX_SCRATCH_B)
            agxc_fail(l->shader, AGX_RESOURCE_EXHAUSTED,
                      "%s: indexed variable of %llu bytes; a thread may have %u", l->shader->name,
                      (unsigned long long)bytes, AGX_PROGRAM_MAX_SCRATCH_B);
         var->bytes = AGX_MAX(var->bytes, (uint32_t)bytes);
      }
}

/* Elements must not overlap, and each has one width. */
static void note_elements(struct access *access)
{
   struct variable *var = access->var;
   for (uint32_t i = 0; i < access->choices && !var->in_memory; i++) {
      for (uint32_t e = 0; e < access->bytes; e += access->element_B) {
         uint32_t at = access->first + i * access->step + e;
         if (at % access->element_B || (var->bits[at] && var->bits[at] != access->data->bits)) {
            var->in_memory = true;
            return;
         }
         var->elements += !var->bits[at];
         var->bits[at] = access->data->bits;
      }
   }
}

static void note_access(struct lowering *l, const struct agxc_instr *instr)
{
   struct access *access = &l->accesses[l->access_count++];
   *access = access_of(l, instr);
   struct variable *var = access->var;
   bool is_load = instr->op == AGXC_OP_LOAD_PRIVATE;
   var->is_loaded |= is_load;
   var->memory += COST_ACCESS + (is_load ? COST_LOAD_WAIT : 0);
   var->near += COST_ACCESS + (is_load ? COST_NEAR_WAIT : 0);
   var->is_odd |=
      access->data->bits != 32 || access->first % 4 || (access->is_dynamic && access->step % 4);
   if (!var->bits)
      var->bits = AGX_ARENA_ARRAY(l->shader->arena, uint8_t, AGX_MAX(var->bytes, 1u));
   if (access->is_dynamic) {
      var->is_indexed = true;
      var->ladder += (uint64_t)access->choices * (access->bytes / access->element_B);
      if (access->choices > MAX_INDEXED_ELEMENTS)
         var->in_memory = true;
   }
   note_elements(access);
}

static bool overlaps(const struct variable *var)
{
   uint32_t end = 0;
   for (uint32_t at = 0; at < var->bytes; at++) {
      if (!var->bits[at])
         continue;
      if (at < end)
         return true;
      end = at + AGX_MAX(var->bits[at], 8) / 8u;
   }
   return false;
}

/* The variable of all threads, next to what the workgroup memory holds already. */
static bool fits_workgroup(const struct agxc_shader *shader, const struct variable *var)
{
   uint64_t threads = agxc_threads_of(shader);
   uint64_t bytes = agx_align_up(shader->shared_B, 4) + agx_align_up(var->bytes, 4) * threads;
   return !var->is_odd && !shader->has_dynamic_local_size && bytes <= AGX_MAX_SHARED_BYTES &&
          AGXC_CORE_SHARED_B / bytes * threads >= MIN_RESIDENT;
}

static void choose_place(struct lowering *l, struct variable *var)
{
   if (!var->bits || !var->is_loaded)
      return;
   bool near = fits_workgroup(l->shader, var);
   var->in_memory |=
      overlaps(var) || (var->is_indexed && (var->elements > MAX_INDEXED_ELEMENTS ||
                                            var->ladder > (near ? var->near : var->memory)));
   if (var->in_memory && near) {
      var->in_workgroup = true;
      var->memory_at = (uint32_t)agx_align_up(l->shader->shared_B, 4);
      l->shader->shared_B =
         var->memory_at + (uint32_t)agx_align_up(var->bytes, 4) * agxc_threads_of(l->shader);
      return;
   }
   if (var->in_memory) {
      var->memory_at = agxc_scratch_alloc(l->shader, var->bytes);
      return;
   }
   var->slot = AGX_ARENA_ARRAY(l->shader->arena, uint32_t, var->bytes);
   for (uint32_t at = 0; at < var->bytes; at++)
      if (var->bits[at])
         var->slot[at] = agxc_slots_new(l->ssa, 1, &var->bits[at]);
}

/* ---- registers --------------------------------------------------------- */

static void begin_slots(struct lowering *l, struct agxc_block *block, const struct variable *var)
{
   for (uint32_t at = 0; at < var->bytes; at++)
      if (var->bits[at])
         agxc_slot_write(l->ssa, block, var->slot[at], agxc_imm(0, var->bits[at]));
}

static uint32_t slot_of(const struct access *access, uint32_t choice, uint32_t element)
{
   return access->var->slot[access->first + choice * access->step + element * access->element_B];
}

/* One of the choices from..to - 1 of an element, by a tree of selects. */
static struct agxc_ref choose(struct lowering *l, struct agxc_builder *b,
                              const struct access *access, uint32_t element, uint32_t from,
                              uint32_t to)
{
   if (to - from == 1)
      return agxc_slot_read(l->ssa, b->block, slot_of(access, from, element));
   uint32_t middle = from + (to - from) / 2;
   struct agxc_ref low = choose(l, b, access, element, from, middle);
   struct agxc_ref high = choose(l, b, access, element, middle, to);
   /* An index that something is added to may start below zero. */
   uint32_t last = access->index_first + (access->choices - 1) * access->index_step;
   enum agxc_op less = last < access->index_first ? AGXC_OP_SLT : AGXC_OP_ULT;
   struct agxc_ref is_low = agxc_build2(
      b, less, 1, access->index, agxc_u32(access->index_first + middle * access->index_step));
   return agxc_build_select(b, is_low, low, high);
}

static void load_slots(struct lowering *l, struct agxc_instr *instr, struct access *access)
{
   struct agxc_builder b = agxc_before(l->shader, instr);
   struct agxc_ref elements[4];
   uint32_t count = AGX_MAX(access->data->count, 1);
   if (access->is_dynamic && access->choices)
      find_index(access);
   for (uint32_t e = 0; e < count; e++)
      elements[e] = access->choices ? choose(l, &b, access, e, 0, access->choices)
                                    : agxc_imm(0, access->data->bits);
   agxc_redefine(&b, *access->data, elements);
}

static void store_slots(struct lowering *l, struct agxc_instr *instr, struct access *access)
{
   struct agxc_builder b = agxc_before(l->shader, instr);
   struct agxc_ref elements[4];
   uint32_t count = AGX_MAX(access->data->count, 1);
   agxc_split(&b, *access->data, elements);
   if (access->is_dynamic && access->choices)
      find_index(access);
   for (uint32_t i = 0; i < access->choices; i++) {
      struct agxc_ref hit = agxc_none();
      if (access->is_dynamic)
         hit = agxc_build_ieq(&b, access->index,
                              agxc_u32(access->index_first + i * access->index_step));
      for (uint32_t e = 0; e < count; e++) {
         uint32_t slot = slot_of(access, i, e);
         struct agxc_ref value = elements[e];
         if (access->is_dynamic)
            value = agxc_build_select(&b, hit, value, agxc_slot_read(l->ssa, b.block, slot));
         agxc_slot_write(l->ssa, b.block, slot, value);
      }
   }
}

/* ---- memory ------------------------------------------------------------ */

/* A constant offset outside is undefined; stay inside. */
static struct agxc_ref inside(struct lowering *l, struct agxc_builder *b,
                              const struct access *access)
{
   const struct variable *var = access->var;
   uint32_t last = var->bytes > access->bytes ? var->bytes - access->bytes : 0;
   if (access->offset->kind == AGXC_IMM)
      return agxc_u32(AGX_MIN((uint64_t)access->offset->imm, last));
   if (l->shader->options->robustness == AGXC_ROBUST_NONE)
      return *access->offset;
   return agxc_build_umin(b, *access->offset, agxc_u32(last));
}

/* The load or store that replaces a private one; `data` is what it loads or stores. */
static void access_memory(struct agxc_builder *b, bool is_load, bool near, struct agxc_ref offset,
                          struct agxc_ref data)
{
   enum agxc_op op = is_load ? (near ? AGXC_OP_LOAD_SHARED : AGXC_OP_LOAD_SCRATCH)
                             : (near ? AGXC_OP_STORE_SHARED : AGXC_OP_STORE_SCRATCH);
   struct agxc_instr *memory = agxc_instr_new(b->shader, op);
   if (is_load)
      agxc_define(memory, data);
   else
      *agxc_src_data(memory) = data;
   *agxc_src_offset(memory) = offset;
   agxc_insert(b, memory);
}

static void use_scratch(struct lowering *l, struct agxc_instr *instr, const struct access *access)
{
   struct agxc_builder b = agxc_before(l->shader, instr);
   uint32_t at = access->var->memory_at;
   struct agxc_ref offset = inside(l, &b, access);
   if (offset.kind == AGXC_IMM)
      offset = agxc_u32((uint64_t)offset.imm + at);
   else if (at)
      offset = agxc_build_iadd(&b, offset, agxc_u32(at));
   access_memory(&b, instr->op == AGXC_OP_LOAD_PRIVATE, false, offset, *access->data);
}

/* Where the thread's first word lies; computed once, where the program starts. */
static struct agxc_ref first_word(struct lowering *l, struct variable *var)
{
   if (var->own.kind != AGXC_NONE)
      return var->own;
   struct agxc_builder b = agxc_at_start(l->shader, agxc_first_block(&l->shader->body));
   struct agxc_ref thread = agxc_build_sysval(&b, AGXC_SYSVAL_LOCAL_INDEX);
   var->own = agxc_build_ishl(&b, thread, agxc_u32(2));
   if (var->memory_at)
      var->own = agxc_build_iadd(&b, var->own, agxc_u32(var->memory_at));
   return var->own;
}

/* Word i of thread t lies at (i * threads + t) * 4: lanes never meet in a bank. */
static void use_workgroup(struct lowering *l, struct agxc_instr *instr, const struct access *access)
{
   struct agxc_ref own = first_word(l, access->var);
   struct agxc_builder b = agxc_before(l->shader, instr);
   bool is_load = instr->op == AGXC_OP_LOAD_PRIVATE;
   uint32_t threads = agxc_threads_of(l->shader), count = AGX_MAX(access->data->count, 1);
   struct agxc_ref offset = inside(l, &b, access), elements[4] = {*access->data};
   struct agxc_ref first = agxc_build_imul(&b, offset, agxc_u32(threads));
   first = agxc_build_iadd(&b, first, own);
   if (!is_load && count > 1)
      agxc_split(&b, *access->data, elements);
   for (uint32_t i = 0; i < count; i++) {
      struct agxc_ref at = first;
      if (is_load && count > 1)
         elements[i] = agxc_use(agxc_value_new(l->shader, 32, 1));
      if (i)
         at = agxc_build_iadd(&b, first, agxc_u32(4 * i * threads));
      access_memory(&b, is_load, true, at, elements[i]);
   }
   if (is_load && count > 1)
      agxc_redefine(&b, *access->data, elements);
}

/* ---- the walk ----------------------------------------------------------- */

static void lower(struct lowering *l, struct agxc_block *block, struct agxc_instr *instr)
{
   const struct variable *var = &l->variables[agxc_imm_variable(instr)];
   bool is_load = instr->op == AGXC_OP_LOAD_PRIVATE;
   if (instr->op == AGXC_OP_PRIVATE) {
      if (var->slot)
         begin_slots(l, block, var);
   } else {
      struct access *access = &l->accesses[l->access_count++];
      if (var->in_workgroup && var->is_loaded)
         use_workgroup(l, instr, access);
      else if (var->in_memory && var->is_loaded)
         use_scratch(l, instr, access);
      else if (is_load)
         load_slots(l, instr, access);
      else if (var->is_loaded) /* what nothing loads need not be stored */
         store_slots(l, instr, access);
   }
   agxc_instr_remove(instr);
}

bool agxc_lower_private(struct agxc_shader *shader)
{
   struct lowering l = {.shader = shader};
   agxc_index(shader);
   count_variables(&l);
   if (l.count == 0)
      return false;
   l.accesses = AGX_ARENA_ARRAY(shader->arena, struct access, AGX_MAX(shader->instr_count, 1u));
   agxc_foreach_instr_of (instr, shader)
      if (is_private(instr) && instr->op != AGXC_OP_PRIVATE)
         note_access(&l, instr);
   l.access_count = 0;
   l.ssa = agxc_ssa_begin(shader);
   for (uint32_t i = 0; i < l.count; i++)
      choose_place(&l, &l.variables[i]);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr_safe (instr, block)
         if (is_private(instr))
            lower(&l, block, instr);
   agxc_ssa_finish(l.ssa);
   return true;
}
