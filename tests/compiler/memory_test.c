/* SPDX-License-Identifier: MIT
 *
 * Random programs over memory: four bindings of which two name each piece of memory, and
 * workgroup memory; elements of 8, 16 and 32 bits, vectors, constant and computed offsets in
 * several forms, ifs and loops. What the evaluator of generic IR says must be in memory, must be
 * there after all passes over memory, on the simulator.
 */
#include "backend_support.h"

#include <stdlib.h>
#include <string.h>

#include "agx/compiler/lower/lower.h"
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/select/select.h"
#include "ir_eval.h"

#define LANES    32
#define OWN_B    128u /* of each lane in each piece of memory */
#define PIECES   2
#define BINDINGS 4 /* binding i is piece i % PIECES */
#define POOL     24

struct maker {
   struct agxc_builder b;
   struct agxc_ref pool[POOL]; /* words */
   unsigned pool_count;
   struct agxc_ref base[3]; /* the lane's own bytes, by other ways of computing them */
   uint64_t random;
   unsigned budget; /* accesses left */
};

static uint32_t next(struct maker *m, uint32_t below)
{
   m->random = m->random * 6364136223846793005ull + 1442695040888963407ull;
   return (uint32_t)((m->random >> 33) % below);
}

static struct agxc_ref imm(uint32_t value)
{
   return agxc_imm(value, 32);
}

static struct agxc_ref two(struct maker *m, enum agxc_op op, struct agxc_ref a, struct agxc_ref b)
{
   return agxc_build2(&m->b, op, 32, a, b);
}

static struct agxc_ref pick(struct maker *m)
{
   return m->pool[next(m, m->pool_count)];
}

static void keep(struct maker *m, struct agxc_ref word)
{
   if (m->pool_count < POOL)
      m->pool[m->pool_count++] = word;
   else
      m->pool[4 + next(m, POOL - 4)] = word;
}

/* ---- accesses ---------------------------------------------------------- */

/* An offset of `bytes` bytes that are the lane's, aligned to an element. */
static struct agxc_ref offset_for(struct maker *m, uint32_t bytes, uint32_t element_B)
{
   /* Few places, so that accesses meet. */
   uint32_t span = next(m, 2) ? 32 : OWN_B;
   uint32_t at = next(m, (span - bytes) / element_B + 1) * element_B;
   struct agxc_ref base = m->base[next(m, 3)];
   uint32_t which = next(m, 4);
   if (which == 0) /* somewhere among four places */
      return two(m, AGXC_OP_IADD, base,
                 two(m, AGXC_OP_ISHL, two(m, AGXC_OP_IAND, pick(m), imm(3)), imm(2)));
   if (which == 1) /* as (lane * elements + index) * size */
      return two(m, AGXC_OP_IMUL,
                 two(m, AGXC_OP_IADD, two(m, AGXC_OP_IMUL, m->pool[0], imm(OWN_B / element_B)),
                     imm(at / element_B)),
                 imm(element_B));
   return two(m, AGXC_OP_IADD, base, imm(at));
}

static void random_access(struct maker *m)
{
   static const uint8_t sizes[] = {32, 32, 32, 32, 16, 8};
   unsigned bits = sizes[next(m, 6)], count = next(m, 3) ? 1 : 1 + next(m, 4);
   bool shared = next(m, 4) == 0, stores = next(m, 2);
   struct agxc_ref offset = offset_for(m, bits / 8 * count, bits / 8);
   struct agxc_ref data = {0}, elements[4];
   if (stores) {
      for (unsigned i = 0; i < count; i++)
         elements[i] = bits == 32 ? pick(m) : agxc_build1(&m->b, AGXC_OP_TRUNC, bits, pick(m));
      data = count == 1 ? elements[0] : agxc_collect(&m->b, count, elements);
   }
   uint32_t binding = shared ? 0 : next(m, BINDINGS);
   uint32_t access = !shared && next(m, 12) == 0 ? AGXC_ACCESS_COHERENT : 0;
   if (stores && shared)
      agxc_build_store_shared(&m->b, offset, data);
   else if (stores)
      agxc_build_store_buffer(&m->b, offset, data, binding, access);
   if (stores)
      return;
   data = shared ? agxc_build_load_shared(&m->b, bits, count, offset)
                 : agxc_build_load_buffer(&m->b, bits, count, offset, binding, access);
   elements[0] = data;
   if (count > 1)
      agxc_split(&m->b, data, elements);
   for (unsigned i = 0; i < count; i++)
      keep(m, bits == 32 ? elements[i] : agxc_build1(&m->b, AGXC_OP_ZEXT, 32, elements[i]));
}

static void random_step(struct maker *m)
{
   static const uint16_t ops[] = {AGXC_OP_IADD, AGXC_OP_IXOR, AGXC_OP_ISUB};
   if (next(m, 4)) {
      random_access(m);
      m->budget -= m->budget > 0;
   } else if (next(m, 8) == 0) {
      agxc_build_barrier(&m->b, AGXC_BARRIER_DEVICE | AGXC_BARRIER_SHARED);
   } else {
      struct agxc_ref a = pick(m);
      keep(m, two(m, (enum agxc_op)ops[next(m, 3)], a, pick(m)));
   }
}

/* ---- control flow ------------------------------------------------------ */

static void fill(struct maker *m, struct agx_link *list, struct agxc_node *parent, unsigned depth);

static void start_block(struct maker *m, struct agx_link *list, struct agxc_node *parent)
{
   struct agxc_block *block = agxc_block_new(m->b.shader);
   agxc_node_append(list, parent, &block->node);
   m->b = agxc_at_end(m->b.shader, block);
}

static void branch_on(struct maker *m, struct agxc_ref condition)
{
   agxc_build_branch(&m->b, condition);
}

static void random_if(struct maker *m, struct agx_link *list, struct agxc_node *parent,
                      unsigned depth)
{
   struct agxc_if *node = agxc_if_new(m->b.shader);
   struct agxc_ref bit = two(m, AGXC_OP_IAND, pick(m), imm(1));
   branch_on(m, agxc_build2(&m->b, AGXC_OP_IEQ, 1, bit, imm(0)));
   agxc_node_append(list, parent, &node->node);
   struct maker saved = *m;
   start_block(m, &node->then_list, &node->node);
   fill(m, &node->then_list, &node->node, depth);
   memcpy(m->pool, saved.pool, sizeof(m->pool));
   m->pool_count = saved.pool_count;
   start_block(m, &node->else_list, &node->node);
   fill(m, &node->else_list, &node->node, depth);
   memcpy(m->pool, saved.pool, sizeof(m->pool));
   m->pool_count = saved.pool_count;
   start_block(m, list, parent);
}

static void random_loop(struct maker *m, struct agx_link *list, struct agxc_node *parent,
                        unsigned depth)
{
   struct agxc_loop *loop = agxc_loop_new(m->b.shader);
   struct agxc_if *leave = agxc_if_new(m->b.shader);
   struct maker saved = *m;
   agxc_node_append(list, parent, &loop->node);
   start_block(m, &loop->body, &loop->node);
   struct agxc_ref counter = agxc_build2(&m->b, AGXC_OP_PHI, 32, imm(0), imm(0));
   branch_on(m, agxc_build2(&m->b, AGXC_OP_ULT, 1, counter, imm(1 + next(m, 3))));
   agxc_node_append(&loop->body, &loop->node, &leave->node);
   start_block(m, &leave->then_list, &leave->node);
   start_block(m, &leave->else_list, &leave->node);
   agxc_insert(&m->b, agxc_instr_new(m->b.shader, AGXC_OP_BREAK));
   start_block(m, &loop->body, &loop->node);
   keep(m, counter);
   fill(m, &loop->body, &loop->node, depth);
   *agxc_phi_back(counter.value->def) = two(m, AGXC_OP_IADD, counter, imm(1));
   start_block(m, &loop->continuing, &loop->node);
   memcpy(m->pool, saved.pool, sizeof(m->pool));
   m->pool_count = saved.pool_count;
   start_block(m, list, parent);
}

static void fill(struct maker *m, struct agx_link *list, struct agxc_node *parent, unsigned depth)
{
   unsigned steps = 3 + next(m, 12);
   for (unsigned i = 0; i < steps && m->budget; i++) {
      uint32_t what = next(m, 12);
      if (what == 0 && depth)
         random_if(m, list, parent, depth - 1);
      else if (what == 1 && depth)
         random_loop(m, list, parent, depth - 1);
      else
         random_step(m);
   }
}

static void start(struct maker *m)
{
   struct agxc_ref id = agxc_build_sysval(&m->b, AGXC_SYSVAL_LOCAL_INDEX);
   m->base[0] = two(m, AGXC_OP_ISHL, id, imm(7));
   m->base[1] =
      two(m, AGXC_OP_IADD, two(m, AGXC_OP_IMUL, id, imm(116)), two(m, AGXC_OP_IMUL, id, imm(12)));
   m->base[2] = two(m, AGXC_OP_ISHL, two(m, AGXC_OP_ISHL, id, imm(4)), imm(3));
   keep(m, id);
   for (unsigned i = 0; i < 3; i++)
      keep(m, imm(0x01234567u * (i + 1)));
   for (unsigned i = 0; i < OWN_B; i += 4) /* workgroup memory holds nothing yet */
      agxc_build_store_shared(&m->b, two(m, AGXC_OP_IADD, m->base[0], imm(i)), id);
}

static void build(struct agxc_shader *shader, uint64_t seed)
{
   struct maker m = {
      .b = agxc_at_end(shader, agxc_first_block(&shader->body)), .random = seed, .budget = 60};
   shader->binding_count = BINDINGS;
   shader->shared_B = LANES * OWN_B;
   start(&m);
   for (unsigned i = 0; i < 3; i++)
      fill(&m, &shader->body, NULL, 2);
   /* What workgroup memory and values came to, at the end of the lane's bytes. */
   for (unsigned i = 0; i < 8; i++) {
      struct agxc_ref from = two(&m, AGXC_OP_IADD, m.base[0], imm(4 * i));
      struct agxc_ref word = agxc_build1(&m.b, AGXC_OP_LOAD_SHARED, 32, from);
      struct agxc_ref to = two(&m, AGXC_OP_IADD, m.base[1], imm(96 + 4 * i));
      agxc_build_store_buffer(&m.b, to, two(&m, AGXC_OP_IXOR, word, pick(&m)), 0, 0);
   }
}

/* ---- comparing --------------------------------------------------------- */

static agx_status run_passes(struct backend *backend)
{
   static bool (*const passes[])(struct agxc_shader *) = {
      agxc_opt_copy_prop, agxc_lower_buffer,  agxc_opt_algebraic, agxc_opt_copy_prop,
      agxc_opt_cse,       agxc_opt_memory,    agxc_opt_copy_prop, agxc_opt_vectorize,
      agxc_opt_copy_prop, agxc_opt_address,   agxc_opt_cse,       agxc_opt_memory,
      agxc_opt_copy_prop, agxc_opt_vectorize, agxc_opt_copy_prop, agxc_opt_dce,
      agxc_select,        agxc_opt_dce,
   };
   struct agxc_shader *shader = backend->shader;
   if (setjmp(backend->exhausted))
      return shader->status;
   for (size_t i = 0; i < AGX_COUNT(passes); i++) {
      passes[i](shader);
      bool is_machine = i >= AGX_COUNT(passes) - 2;
      AGX_TRY(agxc_validate(shader, is_machine ? AGXC_STAGE_MACHINE : AGXC_STAGE_GENERIC));
   }
   return AGX_OK;
}

static void evaluate(uint64_t seed, uint8_t *memory)
{
   struct backend backend;
   backend_init(&backend);
   build(backend.shader, seed);
   agxc_index(backend.shader);
   assert_ok(agxc_validate(backend.shader, AGXC_STAGE_GENERIC));
   struct ir_eval eval = {.shader = backend.shader, .workgroups = {1, 1, 1}, .max_steps = 1u << 20};
   for (unsigned i = 0; i < BINDINGS; i++)
      eval.buffers[i] =
         (struct ir_eval_buffer){memory + i % PIECES * BACKEND_BUFFER_B, BACKEND_BUFFER_B};
   assert_ok(ir_eval_run(&eval));
   backend_fini(&backend);
}

static void compare(uint64_t seed)
{
   uint32_t size = PIECES * BACKEND_BUFFER_B;
   uint8_t *want = malloc(size), *got = malloc(size);
   assert_true(want && got);
   for (uint32_t i = 0; i < size; i++)
      want[i] = got[i] = (uint8_t)(i * 167 + (i >> 8));
   evaluate(seed, want);
   struct backend backend;
   backend_init(&backend);
   backend.pieces = PIECES;
   build(backend.shader, seed);
   assert_ok(run_passes(&backend));
   assert_ok(backend_compile(&backend));
   backend_run(&backend, got, size);
   for (uint32_t i = 0; i < size; i++)
      if (want[i] != got[i])
         fail_msg("seed %llu, piece %u, lane %u, byte %u: %#x, not %#x; code:\n%s",
                  (unsigned long long)seed, i / BACKEND_BUFFER_B, i % BACKEND_BUFFER_B / OWN_B,
                  i % OWN_B, got[i], want[i], backend.text);
   backend_fini(&backend);
   free(want);
   free(got);
}

static void random_programs_agree(void **state)
{
   const char *seeds = getenv("AGX_TEST_SEEDS");
   uint64_t count = seeds ? strtoull(seeds, NULL, 0) : 400;
   for (uint64_t seed = 1; seed <= count; seed++)
      compare(seed);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_programs_agree),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
