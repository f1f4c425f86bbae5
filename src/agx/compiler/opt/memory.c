/* SPDX-License-Identifier: MIT
 *
 * Reads memory that was just read or written only once: a load whose bytes an earlier load
 * or store of this thread names becomes what that one read or wrote, as long as nothing in
 * between may have changed them. A store that a later one of the same block covers, unread,
 * goes away.
 * Before: SSA. After: moves and vectors of known elements (opt_copy_prop and opt_dce clean up).
 * Stands behind opt_cse, so that equal offsets are one value, and in front of opt_vectorize, so
 * that no load is joined that can go.
 *
 * The walk follows the tree, as in opt_cse: what is known in a list holds behind it in that
 * list and inside. What writes kill stays dead, and a loop's writes kill before it is entered.
 * Barriers, and whatever has effects unknown to analysis/memory_ref.c, kill all but constant
 * memory.
 */
#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/opt.h"

/* How many places are remembered; bounds the work per access. */
#define MAX_KNOWN  64
#define MAX_VECTOR 4

struct known {
   struct agxc_memory_ref memory;
   struct agxc_ref data; /* kind NONE: forgotten */
   /* The store, as long as it may be dead. */
   struct agxc_instr *unread;
};

struct forwarding {
   struct agxc_shader *shader;
   struct known known[MAX_KNOWN]; /* a ring; [count % MAX_KNOWN] comes next */
   uint32_t count;                /* how many were ever pushed on this path */
   struct agxc_instr **splits;    /* by value id: a split in the block that defines the vector */
   uint32_t value_count;          /* values that existed before */
   bool progress;
   uint32_t looked_at; /* instructions of a loop */
};

static struct known *known_at(struct forwarding *f, uint32_t i)
{
   return &f->known[i % MAX_KNOWN];
}

static uint32_t oldest(const struct forwarding *f)
{
   return f->count > MAX_KNOWN ? f->count - MAX_KNOWN : 0;
}

/* ---- forgetting ------------------------------------------------------- */

static void forget_overlaps(struct forwarding *f, const struct agxc_memory_ref *memory)
{
   for (uint32_t i = oldest(f); i < f->count; i++)
      if (known_at(f, i)->data.kind != AGXC_NONE &&
          agxc_memory_ref_may_overlap(&known_at(f, i)->memory, memory))
         known_at(f, i)->data = agxc_none();
}

static void forget_all(struct forwarding *f)
{
   for (uint32_t i = oldest(f); i < f->count; i++)
      if (!(known_at(f, i)->memory.access & AGXC_ACCESS_CONST))
         known_at(f, i)->data = agxc_none();
}

/* Stores that something may read from now on. */
static void note_read(struct forwarding *f, const struct agxc_memory_ref *memory)
{
   for (uint32_t i = oldest(f); i < f->count; i++)
      if (known_at(f, i)->unread &&
          (!memory || agxc_memory_ref_may_overlap(&known_at(f, i)->memory, memory)))
         known_at(f, i)->unread = NULL;
}

/* Accesses and others in loops that are looked at, and loops inside each other, before everything
 * is forgotten, so that nests of loops are not read anew at each level. */
#define MAX_LOOKED_AT 4096u
#define MAX_LEVELS    8u

static void forget_block(struct forwarding *f, const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block) {
      struct agxc_memory_ref memory;
      f->looked_at++;
      if (agxc_memory_ref_find(f->shader, instr, &memory)) {
         if (memory.writes)
            forget_overlaps(f, &memory);
      } else if ((agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR)) == AGXC_SIDE_EFFECT) {
         forget_all(f);
      }
   }
}

/* ---- remembering ------------------------------------------------------ */

static void remember(struct forwarding *f, const struct agxc_memory_ref *memory,
                     struct agxc_ref data, struct agxc_instr *store)
{
   *known_at(f, f->count) = (struct known){.memory = *memory, .data = data, .unread = store};
   f->count++;
}

/* The youngest entry that knows the element of that many bits at `constant`, or NULL. */
static const struct known *find_element(struct forwarding *f, const struct agxc_memory_ref *memory,
                                        int64_t constant)
{
   int64_t element_B = memory->bits / 8;
   for (uint32_t i = f->count; i-- > oldest(f);) {
      const struct known *known = known_at(f, i);
      int64_t distance = constant - known->memory.constant;
      if (known->data.kind != AGXC_NONE && known->memory.bits == memory->bits &&
          agxc_memory_ref_same_key(&known->memory, memory) && distance >= 0 &&
          distance % element_B == 0 && distance / element_B < known->memory.count)
         return known;
   }
   return NULL;
}

static struct agxc_ref element_of(struct forwarding *f, struct agxc_builder *b,
                                  const struct known *known, int64_t constant)
{
   int64_t which = (constant - known->memory.constant) / (known->memory.bits / 8);
   const struct agxc_ref *data = &known->data;
   if (known->memory.count == 1)
      return *data;
   if (data->value->id < f->value_count && f->splits[data->value->id])
      return *agxc_element(f->splits[data->value->id], (unsigned)which);
   struct agxc_ref elements[MAX_VECTOR];
   agxc_split(b, *data, elements);
   return elements[which];
}

static void note_split(struct forwarding *f, struct agxc_instr *split)
{
   const struct agxc_ref *vector = agxc_src_vector(split);
   if (vector->kind == AGXC_VALUE && vector->value->id < f->value_count && vector->value->def &&
       vector->value->def->block == split->block)
      f->splits[vector->value->id] = split;
}

/* True when every element of the load was known; it is then gone. */
static bool forward(struct forwarding *f, struct agxc_instr *instr,
                    const struct agxc_memory_ref *memory)
{
   const struct known *sources[MAX_VECTOR];
   struct agxc_ref elements[MAX_VECTOR];
   int64_t element_B = memory->bits / 8;
   if (memory->count > MAX_VECTOR)
      return false;
   for (unsigned i = 0; i < memory->count; i++) {
      sources[i] = find_element(f, memory, memory->constant + i * element_B);
      if (!sources[i])
         return false;
   }
   if (sources[0]->memory.constant == memory->constant &&
       sources[0]->memory.count == memory->count) {
      agxc_become_mov(f->shader, instr, sources[0]->data);
      return true;
   }
   struct agxc_builder b = agxc_before(f->shader, instr);
   for (unsigned i = 0; i < memory->count; i++)
      elements[i] = element_of(f, &b, sources[i], memory->constant + i * element_B);
   agxc_become_mov(f->shader, instr, agxc_collect(&b, memory->count, elements));
   return true;
}

/* ---- the walk --------------------------------------------------------- */

static bool covers(const struct agxc_memory_ref *big, const struct agxc_memory_ref *small)
{
   return agxc_memory_ref_same_key(big, small) && big->constant <= small->constant &&
          small->constant + agxc_memory_ref_bytes(small) <=
             big->constant + agxc_memory_ref_bytes(big);
}

static void remove_dead_stores(struct forwarding *f, const struct agxc_memory_ref *memory)
{
   for (uint32_t i = oldest(f); i < f->count; i++) {
      struct known *known = known_at(f, i);
      if (!known->unread || !covers(memory, &known->memory))
         continue;
      agxc_instr_remove(known->unread);
      known->unread = NULL;
      f->progress = true;
   }
}

static void visit_store(struct forwarding *f, struct agxc_instr *instr,
                        const struct agxc_memory_ref *memory)
{
   struct agxc_ref data = *agxc_src_data(instr);
   bool plain = !(memory->access & AGXC_ACCESS_COHERENT);
   if (plain)
      remove_dead_stores(f, memory);
   forget_overlaps(f, memory);
   /* Outside, what was stored is not what a load reads. */
   if (memory->robustness == AGXC_ROBUST_ZERO)
      data = agxc_none();
   if (plain)
      remember(f, memory, data, instr);
}

static void visit(struct forwarding *f, struct agxc_instr *instr)
{
   struct agxc_memory_ref memory;
   unsigned flags = agxc_flags(instr);
   if (instr->op == AGXC_OP_SPLIT)
      note_split(f, instr);
   if (!agxc_memory_ref_find(f->shader, instr, &memory)) {
      if (flags & (AGXC_SIDE_EFFECT | AGXC_READS_MEMORY))
         note_read(f, NULL);
      if ((flags & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR)) == AGXC_SIDE_EFFECT)
         forget_all(f);
      return;
   }
   if (memory.reads && memory.writes) {
      note_read(f, &memory);
      forget_overlaps(f, &memory);
   } else if (memory.writes) {
      visit_store(f, instr, &memory);
   } else {
      bool plain = !(memory.access & AGXC_ACCESS_COHERENT);
      struct agxc_ref dest = *agxc_dest(instr);
      if (plain && forward(f, instr, &memory)) {
         f->progress = true;
         return;
      }
      note_read(f, &memory);
      if (plain)
         remember(f, &memory, dest, NULL);
   }
}

static void visit_block(void *user, struct agxc_block *block)
{
   struct forwarding *f = user;
   agxc_foreach_instr_safe (instr, block)
      visit(f, instr);
   note_read(f, NULL);
}

static void enter_loop(void *user, struct agxc_loop *loop)
{
   struct forwarding *f = user;
   uint32_t depth = agxc_first_block(&loop->body)->loop_depth;
   f->looked_at = 0;
   agxc_foreach_loop_block (block, f->shader, loop) {
      if (block->loop_depth - depth >= MAX_LEVELS)
         f->looked_at = MAX_LOOKED_AT + 1;
      if (f->looked_at > MAX_LOOKED_AT)
         break;
      forget_block(f, block);
   }
   if (f->looked_at > MAX_LOOKED_AT)
      forget_all(f);
}

static uint32_t enter_list(void *user, const struct agx_link *list)
{
   const struct forwarding *f = user;
   return f->count;
}

/* Places of this list are not known behind it; those that they pushed out of the ring are lost. */
static void leave_list(void *user, uint32_t mark)
{
   struct forwarding *f = user;
   for (uint32_t i = AGX_MAX(mark, oldest(f)); i < f->count; i++)
      *known_at(f, i) = (struct known){.data = agxc_none()};
   f->count = mark;
}

static const struct agxc_visitor visitor = {.block = visit_block,
                                            .enter_loop = enter_loop,
                                            .enter_list = enter_list,
                                            .leave_list = leave_list};

bool agxc_opt_memory(struct agxc_shader *shader)
{
   struct forwarding *f = AGX_ARENA_NEW(shader->arena, struct forwarding);
   f->shader = shader;
   f->value_count = shader->value_count;
   f->splits = AGX_ARENA_ARRAY(shader->arena, struct agxc_instr *, f->value_count);
   agxc_index(shader);
   agxc_walk(&shader->body, &visitor, f);
   return f->progress;
}
