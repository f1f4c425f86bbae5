/* SPDX-License-Identifier: MIT
 *
 * Keeps in registers what a thread has in elements of threadgroup memory that no other thread
 * writes, as sums and scans of a workgroup do:
 *
 *    store_shared l, s                         store_shared l, s
 *    barrier                                   barrier
 *    if (l < 16)                               if (l < 16)
 *       store_shared l, load l + load l + 16 =>   store_shared l, t = s + load l + 16
 *    barrier                                   u = phi(t, s)   barrier
 *    if (l < 8) .. load l ..                   if (l < 8) .. u ..
 *
 * Others read these elements, so that the stores stay; but a barrier changes nothing that the
 * thread itself would load.
 *
 * An element is a thread's own if all stores to threadgroup memory are at offsets that are the same
 * sum of multiples of the thread's place in the workgroup, and a constant; if that sum is another
 * one for each thread; and if constants that differ, differ by more than sums do.
 *
 * Before: SSA. After: moves, and phis behind ifs that store (opt_copy_prop and opt_dce clean up).
 * Stands behind opt_memory, which knows all kinds of memory, but only up to the next barrier.
 */
#include "agx/compiler/analysis/memory_ref.h"
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/opt.h"

#define MAX_PLACES 4u  /* constants: arrays, mostly */
#define MAX_DEPTH  16u /* of ifs and loops; further inside nothing is known */
#define MAX_SPAN   (1u << 20)

/* What the thread's own elements hold; kind NONE: unknown. */
struct contents {
   struct agxc_ref of[MAX_PLACES];
};

struct own {
   struct agxc_shader *shader;
   struct agxc_memory_ref key; /* of all stores, but for the constant */
   int64_t constants[MAX_PLACES];
   uint32_t count;
   uint32_t *stores; /* by index of a block: stores in those before */
   bool has_barrier, has_load;
   struct agxc_value *threads[MAX_PLACES]; /* system values that the sum may be of */
   uint32_t thread_count;
   struct contents now;
   struct {
      struct contents before, arms[2];
      uint32_t arm_count;
   } lists[MAX_DEPTH]; /* that the walk is in */
   uint32_t depth;
   bool progress;
};

/* ---- whose ---------------------------------------------------------------- */

static uint32_t place_of(const struct own *own, const struct agxc_memory_ref *memory)
{
   uint32_t i = 0;
   while (i < own->count && own->constants[i] != memory->constant)
      i++;
   return i;
}

/* False: not all stores are of own elements. */
static bool note_access(struct own *own, const struct agxc_memory_ref *memory)
{
   if (memory->space != AGXC_SPACE_SHARED)
      return true;
   if (!memory->writes) {
      own->has_load = true;
      return true;
   }
   if (memory->reads || memory->bits != 32 || memory->count != 1 ||
       memory->access & AGXC_ACCESS_COHERENT)
      return false;
   if (own->count == 0)
      own->key = *memory;
   if (!agxc_memory_ref_same_key(&own->key, memory))
      return false;
   uint32_t place = place_of(own, memory);
   if (place == MAX_PLACES)
      return false;
   own->constants[place] = memory->constant;
   own->count = AGX_MAX(own->count, place + 1);
   return true;
}

static void note_thread(struct own *own, const struct agxc_instr *sysval)
{
   uint32_t which = agxc_imm_sysval(sysval);
   bool is_place = which == AGXC_SYSVAL_LOCAL_INDEX ||
                   (which >= AGXC_SYSVAL_LOCAL_ID && which < AGXC_SYSVAL_LOCAL_ID + 3);
   if (is_place && own->thread_count < AGX_COUNT(own->threads))
      own->threads[own->thread_count++] = agxc_dest(sysval)->value;
}

static bool survey(struct own *own)
{
   agxc_foreach_block (block, own->shader) {
      uint32_t stores = 0;
      agxc_foreach_instr (instr, block) {
         struct agxc_memory_ref memory;
         if (instr->op == AGXC_OP_SYSVAL)
            note_thread(own, instr);
         own->has_barrier |= instr->op == AGXC_OP_BARRIER;
         if (!agxc_memory_ref_find(own->shader, instr, &memory))
            continue;
         if (!note_access(own, &memory))
            return false;
         stores += memory.space == AGXC_SPACE_SHARED && memory.writes;
      }
      own->stores[block->index + 1] = own->stores[block->index] + stores;
   }
   return own->has_barrier && own->has_load && own->count > 0;
}

/* How many values of a dimension there are; the dimensions' bits. */
static uint32_t threads_along(const struct own *own, const struct agxc_value *thread,
                              uint32_t *out_dimensions)
{
   uint32_t which = agxc_imm_sysval(thread->def);
   if (which == AGXC_SYSVAL_LOCAL_INDEX) {
      *out_dimensions = 7;
      return (uint32_t)agxc_threads_of(own->shader);
   }
   *out_dimensions = 1u << (which - AGXC_SYSVAL_LOCAL_ID);
   return AGX_MAX(own->shader->local_size[which - AGXC_SYSVAL_LOCAL_ID], 1u);
}

static const struct agxc_value *thread_of(const struct own *own, uint32_t id)
{
   for (uint32_t i = 0; i < own->thread_count; i++)
      if (own->threads[i]->id == id)
         return own->threads[i];
   return NULL;
}

/* The bytes that the sum reaches over, where it is another one for each thread; else 0. */
static uint64_t span_of(const struct own *own)
{
   const struct agxc_memory_ref *key = &own->key;
   uint64_t span = 4, last = 0;
   uint32_t covered = 0;
   for (uint32_t n = 0; n < key->term_count; n++) {
      const struct agxc_term *next = NULL; /* of the next greater factor */
      for (uint32_t i = 0; i < key->term_count; i++)
         if (key->terms[i].factor > last && (!next || key->terms[i].factor < next->factor))
            next = &key->terms[i];
      const struct agxc_value *thread = next ? thread_of(own, next->value) : NULL;
      uint32_t dimensions;
      if (!thread || next->factor < span || next->factor > MAX_SPAN)
         return 0;
      span += next->factor * (threads_along(own, thread, &dimensions) - 1);
      covered |= dimensions;
      last = next->factor;
   }
   for (uint32_t d = 0; d < 3; d++)
      if (own->shader->local_size[d] > 1 && !(covered >> d & 1))
         return 0;
   return span <= MAX_SPAN ? span : 0;
}

static bool are_own(const struct own *own)
{
   uint64_t span = own->shader->has_dynamic_local_size ? 0 : span_of(own);
   for (uint32_t i = 0; i < own->count; i++) {
      if (own->constants[i] < 0 || own->constants[i] > MAX_SPAN)
         return false;
      for (uint32_t j = 0; j < i; j++) {
         int64_t apart = own->constants[i] - own->constants[j];
         if ((uint64_t)(apart < 0 ? -apart : apart) < span)
            return false;
      }
   }
   return span > 0;
}

/* ---- what they hold -------------------------------------------------------- */

static void visit_block(void *user, struct agxc_block *block)
{
   struct own *own = user;
   agxc_foreach_instr_safe (instr, block) {
      struct agxc_memory_ref memory;
      bool is_store = instr->op == AGXC_OP_STORE_SHARED;
      if ((!is_store && instr->op != AGXC_OP_LOAD_SHARED) ||
          !agxc_memory_ref_find(own->shader, instr, &memory))
         continue;
      uint32_t place = place_of(own, &memory);
      if (place == own->count || memory.bits != 32 || memory.count != 1 ||
          memory.access & AGXC_ACCESS_COHERENT || !agxc_memory_ref_same_key(&own->key, &memory))
         continue;
      struct agxc_ref *now = &own->now.of[place];
      if (is_store) {
         *now = *agxc_src_data(instr);
      } else if (now->kind == AGXC_NONE) {
         *now = agxc_use(agxc_dest(instr)->value);
      } else {
         agxc_become_mov(own->shader, instr, *now);
         own->progress = true;
      }
   }
}

static uint32_t enter_list(void *user, const struct agx_link *list)
{
   struct own *own = user;
   if (own->depth < MAX_DEPTH) {
      own->lists[own->depth].before = own->now;
      own->lists[own->depth].arm_count = 0;
   } else {
      own->now = (struct contents){0};
   }
   return own->depth++;
}

static void leave_list(void *user, uint32_t mark)
{
   struct own *own = user;
   struct contents end = own->now;
   own->depth--;
   own->now = own->depth < MAX_DEPTH ? own->lists[own->depth].before : (struct contents){0};
   if (own->depth > 0 && own->depth <= MAX_DEPTH)
      own->lists[own->depth - 1].arms[own->lists[own->depth - 1].arm_count++ & 1] = end;
}

static struct agxc_ref join(struct own *own, struct agxc_block *behind, struct agxc_ref yes,
                            struct agxc_ref no)
{
   if (yes.kind == AGXC_NONE || no.kind == AGXC_NONE || agxc_same_ref(&yes, &no))
      return yes.kind == AGXC_NONE ? yes : no;
   struct agxc_builder b = agxc_at_start(own->shader, behind);
   struct agxc_ref ways[] = {yes, no};
   return agxc_build(&b, AGXC_OP_PHI, 32, 1, 2, ways);
}

static enum agxc_visited leave_if(void *user, struct agxc_if *branch)
{
   struct own *own = user;
   struct agxc_block *behind = agxc_block_after(&branch->node);
   if (own->depth == 0 || own->depth > MAX_DEPTH)
      return AGXC_UNCHANGED;
   const struct contents *arms = own->lists[own->depth - 1].arms;
   own->lists[own->depth - 1].arm_count = 0;
   bool has_then = !agxc_terminator(agxc_last_block(&branch->then_list));
   bool has_else = !agxc_terminator(agxc_last_block(&branch->else_list));
   if (has_then != has_else) {
      own->now = arms[has_then ? 0 : 1];
      return AGXC_UNCHANGED;
   }
   for (uint32_t i = 0; i < own->count; i++)
      own->now.of[i] = has_then ? join(own, behind, arms[0].of[i], arms[1].of[i]) : agxc_none();
   return AGXC_UNCHANGED;
}

static void enter_loop(void *user, struct agxc_loop *loop)
{
   struct own *own = user;
   uint32_t first = agxc_first_block(&loop->body)->index;
   uint32_t last = agxc_last_block(&loop->continuing)->index;
   if (own->stores[last + 1] != own->stores[first])
      own->now = (struct contents){0};
}

static enum agxc_visited leave_loop(void *user, struct agxc_loop *loop)
{
   struct own *own = user;
   if (own->depth > 0 && own->depth <= MAX_DEPTH)
      own->lists[own->depth - 1].arm_count = 0;
   return AGXC_UNCHANGED;
}

bool agxc_opt_own_elements(struct agxc_shader *shader)
{
   static const struct agxc_visitor visitor = {.block = visit_block,
                                               .enter_list = enter_list,
                                               .leave_list = leave_list,
                                               .leave_if = leave_if,
                                               .enter_loop = enter_loop,
                                               .leave_loop = leave_loop};
   if (shader->shared_B == 0)
      return false;
   agxc_index(shader);
   struct own *own = AGX_ARENA_NEW(shader->arena, struct own);
   own->shader = shader;
   own->stores = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count + 1ull);
   if (!survey(own) || !are_own(own))
      return false;
   agxc_walk(&shader->body, &visitor, own);
   return own->progress;
}
