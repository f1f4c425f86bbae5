/* SPDX-License-Identifier: MIT
 *
 * Random structured kernels in generic IR, evaluated as they were built and after the passes
 * that move code between threads and the preamble, out of loops and over branches. The evaluator
 * fails on accesses outside of buffers, so a load that is run where it was not meant to be shows
 * even when its value is never used.
 */
#include "support.h"

#include <string.h>

#include "agx/compiler/lower/lower.h"
#include "agx/compiler/opt/opt.h"
#include "ir_eval.h"

#define VARS      6
#define MAX_EXITS 64
#define LANES     32
#define GROUPS    2
#define TABLE_B   64 /* binding 0: constant; 16 bytes of it are declared */
#define SLOT_B    32 /* binding 1, for each thread: two words it reads and writes, then results */
#define OUT_B     (LANES * GROUPS * SLOT_B)

/* Values of all variables where control leaves. */
struct exits {
   struct agxc_ref vars[MAX_EXITS][VARS];
   unsigned count;
};

struct generator {
   struct agx_test_rng rng;
   struct agxc_shader *shader;
   struct agxc_builder b;
   struct agx_link *list;
   struct agxc_node *parent;
   struct agxc_ref vars[VARS], slot, push[4];
   struct exits *breaks, *continues;
   unsigned room; /* statements left */
};

static unsigned below(struct generator *g, unsigned bound)
{
   return (unsigned)agx_test_random_below(&g->rng, bound);
}

static struct agxc_ref imm(uint32_t value)
{
   return agxc_imm(value, 32);
}

static void open_block(struct generator *g)
{
   struct agxc_block *block = agxc_block_new(g->shader);
   agxc_node_append(g->list, g->parent, &block->node);
   g->b = agxc_at_end(g->shader, block);
}

static void remember(struct generator *g, struct exits *exits)
{
   assert_true(exits->count < MAX_EXITS);
   memcpy(exits->vars[exits->count++], g->vars, sizeof(g->vars));
}

static void merge(struct generator *g, const struct exits *exits)
{
   for (unsigned v = 0; v < VARS; v++) {
      struct agxc_ref srcs[MAX_EXITS];
      for (unsigned i = 0; i < exits->count; i++)
         srcs[i] = exits->vars[i][v];
      g->vars[v] = agxc_build(&g->b, AGXC_OP_PHI, 32, 1, exits->count, srcs);
   }
}

static struct agxc_ref operand(struct generator *g)
{
   unsigned kind = below(g, 8);
   if (kind == 0)
      return imm(below(g, 70));
   return kind < 4 ? g->push[below(g, 4)] : g->vars[below(g, VARS)];
}

static struct agxc_ref compare(struct generator *g)
{
   static const uint16_t ops[] = {AGXC_OP_IEQ, AGXC_OP_INE, AGXC_OP_ULT, AGXC_OP_SGE};
   struct agxc_ref a = operand(g), b = operand(g);
   struct agxc_ref c = agxc_build2(&g->b, (enum agxc_op)ops[below(g, 4)], 1, a, b);
   return below(g, 4) ? c : agxc_build1(&g->b, AGXC_OP_INOT, 1, c);
}

static void emit(struct generator *g, unsigned op)
{
   agxc_insert(&g->b, agxc_instr_new(g->shader, op));
}

/* ---- statements --------------------------------------------------------- */

static void gen_alu(struct generator *g)
{
   static const uint16_t ops[] = {AGXC_OP_IADD, AGXC_OP_ISUB, AGXC_OP_IMUL, AGXC_OP_IXOR,
                                  AGXC_OP_UMIN, AGXC_OP_IMAX, AGXC_OP_IAND};
   struct agxc_ref a = operand(g), b = operand(g);
   struct agxc_ref r = agxc_build2(&g->b, (enum agxc_op)ops[below(g, AGX_COUNT(ops))], 32, a, b);
   if (below(g, 3) == 0)
      r = agxc_build3(&g->b, AGXC_OP_SELECT, 32, compare(g), r, operand(g));
   g->vars[below(g, VARS)] = r;
}

static struct agxc_ref load(struct generator *g, unsigned binding, struct agxc_ref offset,
                            unsigned access)
{
   return agxc_build_load_buffer(&g->b, 32, 1, offset, binding, access);
}

/* The table's end is beyond what is declared, so a guard decides whether it is there. */
static void gen_load(struct generator *g)
{
   struct agxc_ref r;
   if (below(g, 3) == 0) {
      r = load(g, 1, agxc_build2(&g->b, AGXC_OP_IADD, 32, g->slot, imm(4 * below(g, 2))), 4);
   } else {
      struct agxc_ref index = agxc_build2(&g->b, AGXC_OP_IAND, 32, operand(g), imm(15));
      struct agxc_ref offset =
         below(g, 4) ? agxc_build2(&g->b, AGXC_OP_ISHL, 32, index, imm(2)) : imm(4 * below(g, 16));
      r = load(g, 0, offset, 6);
   }
   g->vars[below(g, VARS)] = r;
}

static void gen_store(struct generator *g)
{
   struct agxc_ref value = operand(g);
   struct agxc_ref at = agxc_build2(&g->b, AGXC_OP_IADD, 32, g->slot, imm(4 * below(g, 2)));
   agxc_build_store_buffer(&g->b, at, value, 1, AGXC_ACCESS_RESTRICT);
}

static bool gen_list(struct generator *g, unsigned depth, unsigned count);

static bool gen_inside(struct generator *g, struct agx_link *list, struct agxc_node *node,
                       unsigned depth, unsigned count)
{
   struct agx_link *outer = g->list;
   struct agxc_node *parent = g->parent;
   g->list = list;
   g->parent = node;
   open_block(g);
   bool falls = gen_list(g, depth, count);
   g->list = outer;
   g->parent = parent;
   return falls;
}

static void branch_on(struct generator *g, struct agxc_ref condition)
{
   agxc_build_branch(&g->b, condition);
}

/* False when no way leads behind it. */
static bool gen_if(struct generator *g, unsigned depth)
{
   struct exits exits = {.count = 0};
   struct agxc_ref before[VARS];
   branch_on(g, compare(g));
   struct agxc_if *node = agxc_if_new(g->shader);
   agxc_node_append(g->list, g->parent, &node->node);
   memcpy(before, g->vars, sizeof(before));
   if (gen_inside(g, &node->then_list, &node->node, depth - 1, below(g, 5)))
      remember(g, &exits);
   memcpy(g->vars, before, sizeof(before));
   if (gen_inside(g, &node->else_list, &node->node, depth - 1, below(g, 2) * below(g, 4)))
      remember(g, &exits);
   open_block(g);
   if (exits.count)
      merge(g, &exits);
   return exits.count > 0;
}

/* The iteration's end comes after a few iterations, at the top or at the end of the body. */
static void gen_exit(struct generator *g, struct agxc_ref counter)
{
   struct agxc_ref bound =
      below(g, 2) ? imm(below(g, 4)) : agxc_build2(&g->b, AGXC_OP_IAND, 32, operand(g), imm(3));
   branch_on(g, agxc_build2(&g->b, AGXC_OP_UGE, 1, counter, bound));
   struct agxc_if *node = agxc_if_new(g->shader);
   agxc_node_append(g->list, g->parent, &node->node);
   struct agx_link *outer = g->list;
   struct agxc_node *parent = g->parent;
   g->parent = &node->node;
   g->list = &node->then_list;
   open_block(g);
   remember(g, g->breaks);
   emit(g, AGXC_OP_BREAK);
   g->list = &node->else_list;
   open_block(g);
   g->list = outer;
   g->parent = parent;
   open_block(g);
}

static void gen_loop(struct generator *g, unsigned depth)
{
   struct exits breaks = {.count = 0}, continues = {.count = 0};
   struct exits *outer_breaks = g->breaks, *outer_continues = g->continues;
   struct agx_link *list = g->list;
   struct agxc_node *parent = g->parent;
   struct agxc_instr *phis[VARS + 1];
   struct agxc_loop *loop = agxc_loop_new(g->shader);
   agxc_node_append(list, parent, &loop->node);
   g->breaks = &breaks;
   g->continues = &continues;
   g->parent = &loop->node;
   g->list = &loop->body;
   open_block(g);
   for (unsigned v = 0; v <= VARS; v++) {
      struct agxc_ref srcs[2] = {v < VARS ? g->vars[v] : imm(0), imm(0)};
      struct agxc_ref r = agxc_build(&g->b, AGXC_OP_PHI, 32, 1, 2, srcs);
      phis[v] = r.value->def;
      if (v < VARS)
         g->vars[v] = r;
   }
   struct agxc_ref counter = *agxc_dest(phis[VARS]);
   bool at_top = below(g, 2);
   if (at_top)
      gen_exit(g, counter);
   bool falls = gen_list(g, depth - 1, 1 + below(g, 6));
   if (falls)
      remember(g, &continues);
   g->list = &loop->continuing;
   open_block(g);
   if (continues.count) {
      merge(g, &continues);
      if (!at_top)
         gen_exit(g, counter);
   }
   struct agxc_ref next = agxc_build2(&g->b, AGXC_OP_IADD, 32, counter, imm(1));
   for (unsigned v = 0; v <= VARS; v++) {
      *agxc_phi_back(phis[v]) = v < VARS ? g->vars[v] : next;
      if (!continues.count) /* every iteration is the last one */
         phis[v]->src_count = 1, phis[v]->operand_count = 2;
   }
   g->breaks = outer_breaks;
   g->continues = outer_continues;
   g->list = list;
   g->parent = parent;
   open_block(g);
   if (breaks.count)
      merge(g, &breaks);
}

/* False when the list's end is not reached. */
static bool gen_list(struct generator *g, unsigned depth, unsigned count)
{
   for (; count > 0 && g->room > 0; count--) {
      g->room--;
      unsigned kind = below(g, 16);
      if (kind < 7) {
         gen_alu(g);
      } else if (kind < 10) {
         gen_load(g);
      } else if (kind < 11) {
         gen_store(g);
      } else if (kind < 13 && depth) {
         if (!gen_if(g, depth))
            return false;
      } else if (kind < 14 && depth) {
         gen_loop(g, depth);
      } else if (kind == 14 && g->breaks && depth < 2 && g->breaks->count < 8) {
         bool breaks = below(g, 2);
         remember(g, breaks ? g->breaks : g->continues);
         emit(g, breaks ? AGXC_OP_BREAK : AGXC_OP_CONTINUE);
         return false;
      }
   }
   return true;
}

/* ---- one kernel, twice -------------------------------------------------- */

static void store_results(struct generator *g)
{
   for (unsigned v = 0; v < VARS; v++) {
      struct agxc_ref at = agxc_build2(&g->b, AGXC_OP_IADD, 32, g->slot, imm(8 + 4 * v));
      agxc_build_store_buffer(&g->b, at, g->vars[v], 1, AGXC_ACCESS_RESTRICT);
   }
}

static struct agxc_shader *generate(struct agx_arena *arena, const struct agxc_options *options,
                                    uint64_t seed)
{
   struct agxc_shader *shader = agxc_shader_create(arena, options);
   struct generator g = {.rng = {seed * 0x9e3779b97f4a7c15ull | 1}, .shader = shader, .room = 60};
   strcpy(shader->name, "main");
   shader->local_size[0] = LANES;
   shader->local_size[1] = shader->local_size[2] = 1;
   shader->push_B = 16;
   shader->binding_count = 2;
   shader->bindings[0].min_size_B = 16;
   shader->bindings[1].binding = 1;
   g.list = &shader->body;
   g.b = agxc_at_end(shader, agxc_first_block(&shader->body));
   struct agxc_ref id = agxc_build_sysval(&g.b, AGXC_SYSVAL_GLOBAL_ID);
   for (unsigned i = 0; i < 4; i++)
      g.push[i] = agxc_build_load_push(&g.b, 32, 1, 4 * i);
   g.slot = agxc_build2(&g.b, AGXC_OP_IMUL, 32, id, imm(SLOT_B));
   for (unsigned v = 0; v < VARS; v++)
      g.vars[v] = v < 2 ? id : g.push[v % 4];
   if (gen_list(&g, 3, 40))
      store_results(&g);
   return shader;
}

struct memory {
   uint32_t table[TABLE_B / 4], out[OUT_B / 4];
};

static void evaluate(struct agxc_shader *shader, struct memory *memory, uint32_t groups,
                     uint32_t table_B, uint16_t *uniforms)
{
   struct ir_eval eval = {
      .shader = shader,
      .buffers = {{(uint8_t *)memory->table, table_B}, {(uint8_t *)memory->out, OUT_B}},
      .workgroups = {groups, 1, 1},
      .max_steps = 1000000,
      .uniforms = uniforms};
   for (uint8_t i = 0; i < 16; i++)
      eval.push[i] = i % 4 ? 0 : (uint8_t)(3 * i + 1);
   agxc_index(shader);
   assert_ok(ir_eval_run(&eval));
}

/* Uniforms as launch words would load them; addresses are the numbers of bindings. */
static void load_uniforms(const struct agxc_shader *shader, uint32_t table_B, uint16_t *uniforms)
{
   for (uint32_t i = 0; i < shader->uniform_count; i++) {
      const struct agx_program_uniform *slot = &shader->uniforms[i];
      memset(&uniforms[slot->start], 0, slot->halves * sizeof(*uniforms));
      if (slot->kind == AGX_UNIFORM_PUSH)
         uniforms[slot->start] = (uint16_t)(3 * slot->index + 1);
      else if (slot->kind == AGX_UNIFORM_BUFFER_SIZE)
         uniforms[slot->start] = (uint16_t)(slot->index ? OUT_B : table_B);
      else
         uniforms[slot->start] = (uint16_t)slot->index;
   }
}

static unsigned preambles;

static void optimise(struct agxc_shader *shader, uint64_t seed)
{
   static bool (*const passes[])(struct agxc_shader *) = {
      agxc_lower_buffer,  agxc_opt_algebraic,     agxc_opt_copy_prop, agxc_opt_cse,
      agxc_opt_copy_prop, agxc_opt_if_conversion, agxc_opt_cse,       agxc_opt_copy_prop,
      agxc_opt_dce,       agxc_opt_preamble,      agxc_opt_licm,
   };
   for (size_t i = 0; i < AGX_COUNT(passes); i++) {
      passes[i](shader);
      if (agxc_validate(shader, AGXC_STAGE_GENERIC) != AGX_OK)
         fail_msg("seed %llu, behind pass %zu: %s\n%s", (unsigned long long)seed, i,
                  agx_error_peek(), agxc_print(shader, shader->arena));
   }
   preambles += shader->preamble != NULL;
}

static void check_seed(uint64_t seed)
{
   static struct memory want, got;
   static uint16_t uniforms[512];
   struct agx_arena arena;
   jmp_buf failed;
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   for (unsigned i = 0; i < TABLE_B / 4; i++)
      want.table[i] = 7 * i + (uint32_t)seed % 5;
   for (unsigned i = 0; i < OUT_B / 4; i++)
      want.out[i] = i;
   got = want;
   struct agxc_shader *shader = generate(&arena, &options, seed);
   assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   const char *before = agxc_print(shader, &arena);
   evaluate(shader, &want, GROUPS, TABLE_B, NULL);
   optimise(shader, seed);
   memset(uniforms, 0xee, sizeof(uniforms));
   load_uniforms(shader, TABLE_B, uniforms);
   if (shader->preamble)
      evaluate(shader->preamble, &got, 1, TABLE_B, uniforms);
   evaluate(shader, &got, GROUPS, TABLE_B, uniforms);
   if (memcmp(&got, &want, sizeof(got)) != 0)
      fail_msg("seed %llu:\n%sbecame\n%swith the preamble\n%s", (unsigned long long)seed, before,
               agxc_print(shader, &arena),
               shader->preamble ? agxc_print(shader->preamble, &arena) : "");
   agx_arena_fini(&arena);
}

static void results_stay_the_same(void **state)
{
   for (uint64_t seed = 1; seed <= 1500; seed++)
      check_seed(seed);
   assert_true(preambles > 200);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_stay_the_same),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
