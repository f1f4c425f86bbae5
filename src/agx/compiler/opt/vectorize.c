/* SPDX-License-Identifier: MIT
 *
 * Joins neighbouring accesses: loads and stores of one base and one variable offset
 * whose constants follow each other are joined to vectors of up to four elements, within a
 * block. Loads move up to the first of a vector, stores down to the last.
 *
 * More than four halves, where the address is a multiple of 4, are accessed as words:
 *
 *    %1:16x4 = load_global u0l, %0          %5:32x4 = load_global u0l, %0
 *    %2:16x4 = load_global u0l, %0 + 8  =>  %6:32, %7:32, .. = split %5
 *                                           %8:16, %9:16 = unpack32 %6  ..
 *
 * Bytes are loaded so by a run of its own, agxc_opt_widen_bytes: to take one out of its word costs
 * an instruction, which passes behind that run may save.
 *
 * Requires constant parts that analysis/offset.c can see (opt_algebraic, opt_cse); that file says
 * why constants may be compared although offsets wrap. Volatile and coherent accesses stay. Stands
 * behind the passes that bring loads into one block and in front of lower_robust, which checks a
 * joined access as one.
 *
 * Loads and stores are two walks, so that each sees the other kind at rest. In a walk, places
 * of one key collect in an open group. A load group remembers the bytes that stores of its
 * key have written since it was opened: a load of such bytes opens a new group. Every other
 * conflict, and each barrier, closes the group. Then all members may stand where any does.
 */
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/analysis/offset.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/opt/opt.h"

#define MAX_VECTOR 4
/* Bytes of a word, and elements of the longest vector of words. */
#define WORD_B       4
#define MAX_ELEMENTS (MAX_VECTOR * WORD_B)
/* Bounds on the work per access and on how long values live. */
#define MAX_OPEN     16
#define MAX_MEMBERS  32
#define MAX_DISTANCE 256

struct member {
   struct agxc_instr *instr;
   int64_t start, end; /* bytes */
   uint32_t index;     /* of instr */
   bool may_widen;     /* at a multiple of WORD_B but for the constant */
};

struct group {
   struct agxc_memory_ref memory; /* of its first member */
   struct member members[MAX_MEMBERS];
   uint32_t count;
   struct {
      int64_t start, end;
   } written[MAX_MEMBERS]; /* loads: bytes that stores of this key wrote meanwhile */
   uint32_t written_count;
};

struct vectorizer {
   struct agxc_shader *shader;
   struct group *open[MAX_OPEN]; /* the last MAX_OPEN that were opened */
   uint32_t open_count;
   struct group *spare[MAX_OPEN];
   bool stores; /* which walk */
   bool bytes;  /* of loads: joins bytes to words, and nothing else */
   bool progress;
};

/* ---- joining ---------------------------------------------------------- */

/* Members that become one access. */
struct chunk {
   const struct agxc_memory_ref *memory;
   struct member *members;
   uint32_t count;
   int64_t start;
   uint32_t elements; /* of the members */
   uint32_t words;    /* what is accessed in their place; 0: they are */
};

static unsigned element_of(const struct chunk *chunk, const struct member *member)
{
   return (unsigned)((member->start - chunk->start) / (chunk->memory->bits / 8));
}

static bool is_before(const struct agxc_ref *ref, const struct agxc_instr *instr)
{
   return ref->kind != AGXC_VALUE || !ref->value->def || ref->value->def->block != instr->block ||
          ref->value->def->index < instr->index;
}

/* A member whose offset is available before instr: the first one's is. */
static const struct member *available_before(const struct chunk *chunk,
                                             const struct agxc_instr *instr)
{
   uint32_t i = 0;
   while (i + 1 < chunk->count && !is_before(agxc_src_offset(chunk->members[i].instr), instr))
      i++;
   return &chunk->members[i];
}

/* The two differ by what the offset adds to one index, not by the index. */
static bool have_one_root(const struct agxc_instr *a, const struct agxc_instr *b)
{
   uint32_t constant = 0;
   struct agxc_ref x = agxc_offset_root(*agxc_src_offset(a), &constant);
   struct agxc_ref y = agxc_offset_root(*agxc_src_offset(b), &constant);
   return agxc_same_ref(&x, &y);
}

/* Where an index is checked, the index of the chunk's start is what the check must see. */
static struct agxc_ref start_element(struct agxc_builder *b, const struct chunk *chunk,
                                     const struct member *from, const struct agxc_instr *instr)
{
   uint32_t constant = 0, stride = chunk->memory->stride;
   int64_t delta = chunk->start - from->start, steps = 0;
   struct agxc_ref root = agxc_offset_root(*agxc_src_offset(from->instr), &constant);
   const struct agxc_instr *element = root.value->def;
   if (!have_one_root(from->instr, chunk->members[0].instr))
      for (; delta < 0; steps--)
         delta += stride;
   if (steps) {
      struct agxc_ref index =
         agxc_build_iadd(b, *agxc_src_index(element), agxc_u32((uint32_t)steps));
      index.value->def->index = instr->index;
      root = agxc_build_element(b, index, *agxc_src_stride(element));
      root.value->def->index = instr->index;
   }
   constant += (uint32_t)delta;
   if (constant == 0)
      return root;
   struct agxc_ref sum = agxc_build_iadd(b, root, agxc_u32(constant));
   sum.value->def->index = instr->index;
   return sum;
}

static bool is_element(struct agxc_ref offset)
{
   uint32_t constant = 0;
   struct agxc_ref root = agxc_offset_root(offset, &constant);
   return agxc_def_as(root, AGXC_OP_ELEMENT);
}

/* The offset of the chunk's start: that of a member, and the way from there. */
static struct agxc_ref start_offset(struct agxc_builder *b, const struct chunk *chunk,
                                    const struct member *from, const struct agxc_instr *instr)
{
   struct agxc_ref offset = *agxc_src_offset(from->instr);
   uint32_t delta = (uint32_t)(chunk->start - from->start);
   if (offset.kind == AGXC_IMM)
      return agxc_u32((uint32_t)offset.imm + delta);
   if (delta == 0)
      return offset;
   if (chunk->memory->robustness && is_element(offset))
      return start_element(b, chunk, from, instr);
   offset = agxc_offset_root(offset, &delta);
   if (delta == 0)
      return offset;
   struct agxc_ref moved = agxc_build_iadd(b, offset, agxc_u32(delta));
   moved.value->def->index = instr->index;
   return moved;
}

static uint32_t access_of(const struct chunk *chunk)
{
   uint32_t access = ~0u;
   for (uint32_t i = 0; i < chunk->count; i++)
      access &= agxc_imm_access(chunk->members[i].instr);
   return access;
}

static struct agxc_instr *new_access(struct agxc_builder *b, const struct chunk *chunk,
                                     struct agxc_instr *like)
{
   const struct agxc_memory_ref *memory = chunk->memory;
   struct agxc_instr *instr = agxc_instr_new(b->shader, like->op);
   const struct member *from = available_before(chunk, like);
   if (memory->base.kind != AGXC_NONE)
      *agxc_src_address(instr) = *agxc_src_address(from->instr);
   *agxc_src_offset(instr) = start_offset(b, chunk, from, like);
   if (memory->space == AGXC_SPACE_DEVICE)
      agxc_set_imm_access(instr, access_of(chunk));
   return instr;
}

static void insert(struct agxc_builder *b, struct agxc_instr *instr, uint32_t index)
{
   agxc_insert(b, instr);
   instr->index = index;
}

/* The halves or bytes of a word. */
static void take_word_apart(struct agxc_builder *b, struct agxc_ref word, unsigned bits,
                            struct agxc_ref *out, uint32_t index)
{
   if (bits == 16) {
      struct agxc_instr *halves = agxc_build_unpack32(b, word);
      out[0] = *agxc_dest_low(halves);
      out[1] = *agxc_dest_high(halves);
      halves->index = index;
      return;
   }
   for (unsigned i = 0; i < WORD_B; i++) {
      struct agxc_ref low = i ? agxc_build_ushr(b, word, agxc_u32(8 * i)) : word;
      out[i] = agxc_build_trunc(b, bits, low);
      low.value->def->index = out[i].value->def->index = index;
   }
}

/* The elements of what a chunk is loaded as. */
static void load_elements(struct agxc_builder *b, const struct chunk *chunk,
                          struct agxc_instr *load, uint32_t index, struct agxc_ref *out)
{
   unsigned bits = chunk->memory->bits, per_word = 32u / bits;
   struct agxc_value *vector = agxc_value_new(b->shader, chunk->words ? 32 : bits,
                                              chunk->words ? chunk->words : chunk->elements);
   agxc_define(load, agxc_use(vector));
   insert(b, load, index);
   if (!chunk->words) {
      agxc_split(b, agxc_use(vector), out);
      out[0].value->def->index = index;
      return;
   }
   struct agxc_ref words[MAX_VECTOR];
   agxc_split(b, agxc_use(vector), words);
   words[0].value->def->index = index;
   for (uint32_t i = 0; i < chunk->words; i++)
      take_word_apart(b, words[i], bits, &out[i * per_word], index);
}

static void join_loads(struct vectorizer *v, const struct chunk *chunk)
{
   struct agxc_instr *first = chunk->members[0].instr;
   for (uint32_t i = 1; i < chunk->count; i++)
      if (chunk->members[i].index < first->index)
         first = chunk->members[i].instr;
   struct agxc_builder b = agxc_before(v->shader, first);
   struct agxc_instr *load = new_access(&b, chunk, first);
   struct agxc_ref elements[MAX_ELEMENTS];
   load_elements(&b, chunk, load, first->index, elements);
   for (uint32_t i = 0; i < chunk->count; i++) {
      struct agxc_instr *old = chunk->members[i].instr;
      unsigned at = element_of(chunk, &chunk->members[i]);
      agxc_redefine(&b, *agxc_dest(old), &elements[at])->index = first->index;
   }
   for (uint32_t i = 0; i < chunk->count; i++)
      agxc_instr_remove(chunk->members[i].instr);
}

/* What a chunk is stored as: its elements, or halves in pairs. */
static struct agxc_ref store_data(struct agxc_builder *b, const struct chunk *chunk,
                                  const struct agxc_ref *elements)
{
   if (!chunk->words)
      return agxc_collect(b, chunk->elements, elements);
   struct agxc_ref words[MAX_VECTOR];
   for (uint32_t i = 0; i < chunk->words; i++)
      words[i] = agxc_build2_folded(b, AGXC_OP_PACK32, 32, elements[2 * i], elements[2 * i + 1]);
   return agxc_collect(b, chunk->words, words);
}

static void join_stores(struct vectorizer *v, const struct chunk *chunk)
{
   struct agxc_instr *last = chunk->members[0].instr;
   for (uint32_t i = 1; i < chunk->count; i++)
      if (chunk->members[i].index > last->index)
         last = chunk->members[i].instr;
   struct agxc_builder b = agxc_before(v->shader, last);
   struct agxc_ref elements[MAX_ELEMENTS];
   for (uint32_t i = 0; i < chunk->count; i++) {
      struct agxc_ref data = *agxc_src_data(chunk->members[i].instr);
      unsigned at = element_of(chunk, &chunk->members[i]);
      agxc_split(&b, data, &elements[at]);
   }
   struct agxc_instr *store = new_access(&b, chunk, last);
   *agxc_src_data(store) = store_data(&b, chunk, elements);
   insert(&b, store, last->index);
   for (uint32_t i = 0; i < chunk->count; i++)
      agxc_instr_remove(chunk->members[i].instr);
}

/* ---- groups ----------------------------------------------------------- */

static int compare_members(const void *a, const void *b)
{
   const struct member *x = a, *y = b;
   if (x->start != y->start)
      return x->start < y->start ? -1 : 1;
   if (x->end != y->end)
      return x->end > y->end ? -1 : 1;
   return x->index < y->index ? -1 : x->index > y->index;
}

/* In zero mode what one element's index says must say all about the others. In clamp mode an
 * access less than 16 bytes from one that is outside may count as outside too.
 * Source: docs/hw/access.md 2. */
static bool may_join(const struct agxc_memory_ref *memory, const struct agxc_instr *a,
                     const struct agxc_instr *b)
{
   if (memory->robustness == AGXC_ROBUST_ZERO)
      return have_one_root(a, b);
   return !memory->robustness || have_one_root(a, b) ||
          (is_element(*agxc_src_offset(a)) && is_element(*agxc_src_offset(b)));
}

/* How many members from m on make one access of so many bytes at most. */
static struct chunk chunk_of(const struct group *group, struct member *m, uint32_t left,
                             int64_t most_B, bool widens)
{
   int64_t element_B = group->memory.bits / 8, limit = m->start + most_B;
   struct chunk chunk = {.memory = &group->memory, .members = m, .count = 1, .start = m->start};
   int64_t end = m->end;
   uint32_t low = m->index, high = m->index;
   while (chunk.count < left) {
      const struct member *next = &m[chunk.count];
      low = AGX_MIN(low, next->index);
      high = AGX_MAX(high, next->index);
      if (next->start > end || next->end > limit || (next->start - m->start) % element_B ||
          high - low > MAX_DISTANCE || !may_join(&group->memory, m->instr, next->instr) ||
          (widens && !next->may_widen))
         break;
      end = AGX_MAX(end, next->end);
      chunk.count++;
   }
   chunk.elements = (uint32_t)((end - m->start) / element_B);
   return chunk;
}

/* Elements that are more than one access of them takes, as whole words. */
static bool find_words(const struct group *group, struct member *m, uint32_t left,
                       struct chunk *out_chunk)
{
   int64_t element_B = group->memory.bits / 8, most_B = MAX_VECTOR * WORD_B;
   if (!m->may_widen || m->start % WORD_B)
      return false;
   *out_chunk = chunk_of(group, m, left, most_B, true);
   most_B = out_chunk->elements * element_B / WORD_B * WORD_B;
   if (most_B < out_chunk->elements * element_B)
      *out_chunk = chunk_of(group, m, left, most_B, true);
   out_chunk->words = (uint32_t)(most_B / WORD_B);
   return out_chunk->elements > MAX_VECTOR && out_chunk->elements * element_B == most_B;
}

static struct chunk chunk_at(const struct vectorizer *v, const struct group *group,
                             struct member *m, uint32_t left)
{
   struct chunk chunk = {.count = 1};
   if (!find_words(group, m, left, &chunk))
      chunk = v->bytes ? (struct chunk){.count = 1}
                       : chunk_of(group, m, left, MAX_VECTOR * (group->memory.bits / 8), false);
   return chunk;
}

static void close_group(struct vectorizer *v, uint32_t which)
{
   struct group *group = v->open[which];
   qsort(group->members, group->count, sizeof(group->members[0]), compare_members);
   for (uint32_t i = 0; i < group->count;) {
      struct chunk chunk = chunk_at(v, group, &group->members[i], group->count - i);
      i += chunk.count;
      if (chunk.count < 2)
         continue;
      if (v->stores)
         join_stores(v, &chunk);
      else
         join_loads(v, &chunk);
      v->progress = true;
   }
   memmove(&v->open[which], &v->open[which + 1], (v->open_count - which - 1) * sizeof(v->open[0]));
   v->spare[--v->open_count] = group;
}

static void close_all(struct vectorizer *v)
{
   while (v->open_count)
      close_group(v, v->open_count - 1);
}

static struct group *open_group(struct vectorizer *v, const struct agxc_memory_ref *memory)
{
   if (v->open_count == MAX_OPEN)
      close_group(v, 0);
   struct group *group = v->spare[v->open_count];
   if (!group)
      group = AGX_ARENA_NEW(v->shader->arena, struct group);
   group->memory = *memory;
   group->count = group->written_count = 0;
   v->open[v->open_count++] = group;
   return group;
}

/* Index of the open group that this place may join, or open_count. */
static uint32_t find_group(const struct vectorizer *v, const struct agxc_memory_ref *memory)
{
   uint32_t i = 0;
   uint32_t alike = AGXC_ACCESS_PAIRS | AGXC_ACCESS_UNCHECKED;
   while (i < v->open_count && !(v->open[i]->memory.bits == memory->bits &&
                                 !((v->open[i]->memory.access ^ memory->access) & alike) &&
                                 agxc_memory_ref_same_key(&v->open[i]->memory, memory)))
      i++;
   return i;
}

/* Whether words may be accessed in place of the elements, at constants that are multiples of
 * WORD_B: bindings begin at such addresses (include/agx/command_buffer.h, struct agx_binding), and
 * threadgroup memory does. */
static bool may_widen(const struct vectorizer *v, const struct agxc_memory_ref *memory)
{
   if (memory->bits != (v->bytes ? 8 : 16) || memory->robustness ||
       !(memory->space == AGXC_SPACE_SHARED || agxc_memory_ref_is_bound(v->shader, memory)))
      return false;
   for (uint32_t i = 0; i < memory->term_count; i++)
      if (memory->terms[i].factor % WORD_B)
         return false;
   return true;
}

static void join(struct vectorizer *v, uint32_t which, struct agxc_instr *instr,
                 const struct agxc_memory_ref *memory)
{
   struct group *group = NULL;
   if (which < v->open_count && v->open[which]->count == MAX_MEMBERS)
      close_group(v, which);
   else if (which < v->open_count)
      group = v->open[which];
   if (!group)
      group = open_group(v, memory);
   group->members[group->count++] =
      (struct member){.instr = instr,
                      .start = memory->constant,
                      .end = memory->constant + agxc_memory_ref_bytes(memory),
                      .index = instr->index,
                      .may_widen = may_widen(v, memory)};
}

/* It joins no other access. Booleans have no bytes; IR text may store them. */
static bool is_alone(const struct vectorizer *v, const struct agxc_memory_ref *memory)
{
   return memory->access & AGXC_ACCESS_COHERENT || memory->bits < 8 ||
          (v->bytes && memory->bits != 8);
}

/* ---- the walk over loads ---------------------------------------------- */

static void note_write(struct vectorizer *v, const struct agxc_memory_ref *memory)
{
   for (uint32_t i = v->open_count; i-- > 0;) {
      struct group *group = v->open[i];
      if (!agxc_memory_ref_same_key(&group->memory, memory)) {
         if (agxc_memory_ref_may_overlap(&group->memory, memory))
            close_group(v, i);
         continue;
      }
      if (group->written_count == MAX_MEMBERS) {
         close_group(v, i);
         continue;
      }
      group->written[group->written_count].start = memory->constant;
      group->written[group->written_count++].end = memory->constant + agxc_memory_ref_bytes(memory);
   }
}

static bool was_written(const struct group *group, const struct agxc_memory_ref *memory)
{
   for (uint32_t i = 0; i < group->written_count; i++)
      if (group->written[i].start < memory->constant + agxc_memory_ref_bytes(memory) &&
          memory->constant < group->written[i].end)
         return true;
   return false;
}

static void visit_for_loads(struct vectorizer *v, struct agxc_instr *instr)
{
   struct agxc_memory_ref memory;
   if (!agxc_memory_ref_find(v->shader, instr, &memory)) {
      if (agxc_flags(instr) & AGXC_SIDE_EFFECT)
         close_all(v);
      return;
   }
   if (memory.writes) {
      note_write(v, &memory);
      return;
   }
   if (is_alone(v, &memory))
      return;
   uint32_t which = find_group(v, &memory);
   if (which < v->open_count && was_written(v->open[which], &memory)) {
      close_group(v, which);
      which = v->open_count;
   }
   join(v, which, instr, &memory);
}

/* ---- the walk over stores --------------------------------------------- */

static bool touches(const struct group *group, const struct agxc_memory_ref *memory)
{
   if (!agxc_memory_ref_same_key(&group->memory, memory))
      return agxc_memory_ref_may_overlap(&group->memory, memory);
   for (uint32_t i = 0; i < group->count; i++)
      if (group->members[i].start < memory->constant + agxc_memory_ref_bytes(memory) &&
          memory->constant < group->members[i].end)
         return true;
   return false;
}

static void visit_for_stores(struct vectorizer *v, struct agxc_instr *instr)
{
   struct agxc_memory_ref memory;
   if (!agxc_memory_ref_find(v->shader, instr, &memory)) {
      if (agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY))
         close_all(v);
      return;
   }
   for (uint32_t i = v->open_count; i-- > 0;)
      if (touches(v->open[i], &memory))
         close_group(v, i);
   if (memory.reads || is_alone(v, &memory))
      return;
   join(v, find_group(v, &memory), instr, &memory);
}

static void walk(struct vectorizer *v, bool stores)
{
   v->stores = stores;
   agxc_index(v->shader);
   agxc_foreach_block (block, v->shader) {
      agxc_foreach_instr_safe (instr, block) {
         if (stores)
            visit_for_stores(v, instr);
         else
            visit_for_loads(v, instr);
      }
      close_all(v);
   }
}

bool agxc_opt_vectorize(struct agxc_shader *shader)
{
   struct vectorizer v = {.shader = shader};
   walk(&v, false);
   walk(&v, true);
   return v.progress;
}

static bool loads_bytes(const struct agxc_shader *shader)
{
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         if ((instr->op == AGXC_OP_LOAD_GLOBAL || instr->op == AGXC_OP_LOAD_SHARED) &&
             agxc_dest(instr)->bits == 8)
            return true;
   return false;
}

bool agxc_opt_widen_bytes(struct agxc_shader *shader)
{
   struct vectorizer v = {.shader = shader, .bytes = true};
   if (loads_bytes(shader))
      walk(&v, false);
   if (v.progress)
      agxc_opt_copy_prop(shader); /* opt_algebraic, which is next, looks for extensions of bytes */
   return v.progress;
}
