/* SPDX-License-Identifier: MIT
 *
 * Random structured programs, twice: compiled from SSA machine code and run on 32 lanes
 * of the simulator in check mode, and interpreted statement by statement for each lane.
 * Whatever the back end gets wrong - registers, copies, masks, jumps, waits, hints -
 * shows as a different number in memory.
 */
#include "backend_support.h"

#include <stdlib.h>
#include <string.h>

#include "agx/compiler/passes.h"
#include "base/util.h"

/* ---- a little language --------------------------------------------------- */

#define MAX_VARS    48
#define MAX_STMTS   400
#define TABLE_WORDS 64 /* memory that programs read, in front of the results */
#define MAX_TRIPS   6

enum kind {
   ADD,    /* dst = a + b, in dst's width */
   XOR,    /* dst = a ^ b */
   SELECT, /* dst = compare(a, b) ? c : b */
   COPY,   /* dst = a, cut or widened */
   CONST,  /* dst = number */
   LOAD,   /* dst = table[a % 32], 32 bits */
   LOAD4,  /* four variables = table[a % 32 ...] */
   STORE4, /* four variables to the lane's slot */
   IF,
   LOOP,
   BREAK,
   CONTINUE,
   RETURN, /* stores all variables first */
};

struct stmt {
   enum kind kind;
   uint8_t dst, a, b, c, vars[4];
   uint8_t cond; /* AGX_ISA_ICOND_* */
   uint32_t number;
   struct stmt *then, *orelse; /* LOOP: body, continuing */
   struct stmt *next;
};

struct program {
   struct agx_test_rng rng;
   struct stmt stmts[MAX_STMTS];
   unsigned stmt_count, var_count;
   uint8_t bits[MAX_VARS];
   struct stmt *body;
};

static unsigned roll(struct program *program, unsigned bound)
{
   return (unsigned)agx_test_random_below(&program->rng, bound);
}

static struct stmt *new_stmt(struct program *program, enum kind kind)
{
   static const uint8_t conds[] = {AGX_ISA_ICOND_IEQ, AGX_ISA_ICOND_ULT, AGX_ISA_ICOND_UGT,
                                   AGX_ISA_ICOND_INE};
   assert_true(program->stmt_count < MAX_STMTS);
   struct stmt *stmt = &program->stmts[program->stmt_count++];
   *stmt = (struct stmt){.kind = kind,
                         .dst = (uint8_t)roll(program, program->var_count),
                         .a = (uint8_t)roll(program, program->var_count),
                         .b = (uint8_t)roll(program, program->var_count),
                         .c = (uint8_t)roll(program, program->var_count),
                         .cond = conds[roll(program, 4)],
                         .number = (uint32_t)agx_test_random(&program->rng)};
   return stmt;
}

/* A random variable of that width; the first ones have one each. */
static uint8_t var_of(struct program *program, unsigned bits)
{
   for (;;) {
      unsigned var = roll(program, program->var_count);
      if (program->bits[var] == bits)
         return (uint8_t)var;
   }
}

static struct stmt *simple(struct program *program)
{
   struct stmt *stmt = new_stmt(program, (enum kind)roll(program, STORE4 + 1));
   if (stmt->kind != ADD && stmt->kind != COPY && program->bits[stmt->dst] == 64)
      stmt->dst = var_of(program, 32);
   if (stmt->kind == SELECT) {
      stmt->b = var_of(program, program->bits[stmt->dst]);
      stmt->c = var_of(program, program->bits[stmt->dst]);
      stmt->cond &= 7; /* selects can't invert */
   }
   if (stmt->kind == LOAD)
      stmt->dst = var_of(program, 32);
   if (stmt->kind == COPY && program->bits[stmt->dst] == 64)
      stmt->a = var_of(program, 64);
   else if (stmt->kind == COPY && program->bits[stmt->a] == 64)
      stmt->a = var_of(program, 32);
   for (unsigned i = 0; i < 4; i++)
      stmt->vars[i] = var_of(program, 32);
   if (program->bits[stmt->a] == 64 && stmt->kind != ADD && stmt->kind != COPY)
      stmt->a = var_of(program, 32);
   if (program->bits[stmt->b] == 64)
      stmt->b = var_of(program, 16);
   return stmt;
}

static struct stmt *make_list(struct program *program, unsigned depth, bool in_loop);

static struct stmt *make_loop(struct program *program, unsigned depth)
{
   struct stmt *loop = new_stmt(program, LOOP);
   loop->number = 1 + roll(program, MAX_TRIPS);
   loop->then = make_list(program, depth, true);
   loop->orelse = roll(program, 2) ? make_list(program, depth + 2, false) : NULL;
   return loop;
}

static struct stmt *make_stmt(struct program *program, unsigned depth, bool in_loop)
{
   unsigned kind = roll(program, 10);
   if (depth >= 5 || kind < 5 || program->stmt_count > MAX_STMTS - 60)
      return simple(program);
   if (kind == 9 && depth < 4)
      return make_loop(program, depth + 1);
   struct stmt *stmt = new_stmt(program, IF);
   stmt->a = var_of(program, roll(program, 2) ? 16 : 32);
   stmt->b = var_of(program, program->bits[stmt->a]);
   stmt->then = make_list(program, depth + 1, in_loop);
   stmt->orelse = roll(program, 2) ? make_list(program, depth + 1, in_loop) : NULL;
   return stmt;
}

/* Lists inside an if may end in leaving. */
static struct stmt *make_list(struct program *program, unsigned depth, bool in_loop)
{
   struct stmt *first = NULL, **at = &first;
   for (unsigned count = roll(program, 4) + (depth == 0 ? 4 : 0); count > 0; count--) {
      *at = make_stmt(program, depth, in_loop);
      at = &(*at)->next;
   }
   unsigned leave = roll(program, 14);
   if (depth > 0 && in_loop && leave < 6)
      *at = new_stmt(program, leave < 3 ? BREAK : CONTINUE);
   else if (depth > 0 && leave == 6)
      *at = new_stmt(program, RETURN);
   return first;
}

static void make_program(struct program *program, uint64_t seed, unsigned var_count)
{
   static const uint8_t widths[] = {32, 16, 32, 64, 32, 16, 32, 16};
   memset(program, 0, sizeof(*program));
   program->rng.state = seed;
   program->var_count = var_count;
   for (unsigned i = 0; i < var_count; i++)
      program->bits[i] = i < 4 ? widths[i] : widths[roll(program, AGX_COUNT(widths))];
   program->body = make_list(program, 0, false);
}

/* ---- what it means -------------------------------------------------------- */

enum flow {
   FALL,
   BREAKS,
   CONTINUES,
   RETURNS,
};

struct lane {
   const struct program *program;
   uint64_t vars[MAX_VARS];
   const uint32_t *table;
   uint32_t *slot; /* results: four words, then the variables */
};

/* Bytes of a lane's results: the vector, and 8 for each variable. */
#define SLOT_B (16 + 8 * MAX_VARS)

static uint64_t cut(const struct lane *lane, unsigned var, uint64_t value)
{
   return value & agx_bits(lane->program->bits[var]);
}

static bool holds(uint8_t cond, uint64_t a, uint64_t b)
{
   switch (cond) {
   case AGX_ISA_ICOND_IEQ:
      return a == b;
   case AGX_ISA_ICOND_ULT:
      return a < b;
   case AGX_ISA_ICOND_UGT:
      return a > b;
   default:
      return a != b;
   }
}

static void store_all(struct lane *lane)
{
   for (unsigned i = 0; i < lane->program->var_count; i++) {
      lane->slot[4 + 2 * i] = (uint32_t)lane->vars[i];
      lane->slot[5 + 2 * i] = (uint32_t)(lane->vars[i] >> 32);
   }
}

static enum flow run_list(struct lane *lane, const struct stmt *list);

static enum flow run_loop(struct lane *lane, const struct stmt *loop)
{
   for (uint32_t trip = 0;; trip++) {
      if (trip >= loop->number)
         return FALL;
      enum flow flow = run_list(lane, loop->then);
      if (flow == FALL || flow == CONTINUES)
         flow = run_list(lane, loop->orelse);
      if (flow == BREAKS)
         return FALL;
      if (flow == RETURNS)
         return RETURNS;
   }
}

static enum flow run_stmt(struct lane *lane, const struct stmt *stmt)
{
   uint64_t *v = lane->vars, a = v[stmt->a], b = v[stmt->b];
   switch (stmt->kind) {
   case ADD:
      v[stmt->dst] = cut(lane, stmt->dst, a + b);
      break;
   case XOR:
      v[stmt->dst] = cut(lane, stmt->dst, a ^ b);
      break;
   case SELECT:
      v[stmt->dst] = holds(stmt->cond, a, b) ? v[stmt->c] : b;
      break;
   case COPY:
      v[stmt->dst] = cut(lane, stmt->dst, a);
      break;
   case CONST:
      v[stmt->dst] = cut(lane, stmt->dst, stmt->number);
      break;
   case LOAD:
      v[stmt->dst] = lane->table[a % 32];
      break;
   case LOAD4:
      for (unsigned i = 0; i < 4; i++)
         v[stmt->vars[i]] = lane->table[a % 32 + i];
      break;
   case STORE4:
      for (unsigned i = 0; i < 4; i++)
         lane->slot[i] = (uint32_t)v[stmt->vars[i]];
      break;
   case IF:
      return run_list(lane, holds(stmt->cond, a, b) ? stmt->then : stmt->orelse);
   case LOOP:
      return run_loop(lane, stmt);
   case BREAK:
      return BREAKS;
   case CONTINUE:
      return CONTINUES;
   case RETURN:
      store_all(lane);
      return RETURNS;
   }
   return FALL;
}

static enum flow run_list(struct lane *lane, const struct stmt *list)
{
   for (; list; list = list->next) {
      enum flow flow = run_stmt(lane, list);
      if (flow != FALL)
         return flow;
   }
   return FALL;
}

/* ---- the same as SSA -------------------------------------------------------- */

/* Values of all variables where a block ends that control leaves from. */
struct snapshot {
   struct agxc_ref vars[MAX_VARS];
};

struct target {
   struct snapshot *from;
   unsigned count;
};

struct generator {
   const struct program *program;
   struct agxc_shader *shader;
   struct agxc_builder b;
   struct agxc_ref vars[MAX_VARS], slot_base;
   struct target *on_break, *on_continue; /* of the innermost loop */
   struct agx_link *list;
   struct agxc_node *parent;
};

static void remember(struct target *target, const struct generator *gen)
{
   target->from = realloc(target->from, (target->count + 1) * sizeof(*target->from));
   assert_non_null(target->from);
   memcpy(target->from[target->count++].vars, gen->vars, sizeof(gen->vars));
}

/* Phis for all variables; control comes from target's blocks in program order. */
static void merge(struct generator *gen, struct target *target)
{
   for (unsigned v = 0; v < gen->program->var_count; v++) {
      bool same = true;
      for (unsigned i = 1; i < target->count; i++)
         same &= target->from[i].vars[v].value == target->from[0].vars[v].value;
      gen->vars[v] = target->from[0].vars[v];
      if (same)
         continue;
      struct agxc_ref *srcs = calloc(target->count, sizeof(*srcs));
      assert_non_null(srcs);
      for (unsigned i = 0; i < target->count; i++)
         srcs[i] = target->from[i].vars[v];
      gen->vars[v] =
         agxc_build(&gen->b, AGXC_OP_PHI, gen->program->bits[v], 1, target->count, srcs);
      free(srcs);
   }
   free(target->from);
   *target = (struct target){0};
}

static struct agxc_block *open_block(struct generator *gen)
{
   struct agxc_block *block = agxc_block_new(gen->shader);
   agxc_node_append(gen->list, gen->parent, &block->node);
   gen->b = agxc_at_end(gen->shader, block);
   return block;
}

static bool gen_list(struct generator *gen, const struct stmt *list);

/* Fills a list inside node; false when its end is not reached. */
static bool gen_inside(struct generator *gen, struct agx_link *list, struct agxc_node *node,
                       const struct stmt *stmts)
{
   struct agx_link *outer_list = gen->list;
   struct agxc_node *outer_parent = gen->parent;
   gen->list = list;
   gen->parent = node;
   open_block(gen);
   bool falls = gen_list(gen, stmts);
   gen->list = outer_list;
   gen->parent = outer_parent;
   return falls;
}

static struct agxc_ref narrow(const struct agxc_ref *var)
{
   return *var;
}

static void leave(struct generator *gen, enum agxc_op op)
{
   agxc_insert(&gen->b, agxc_instr_new(gen->shader, op));
}

static void gen_compare(struct generator *gen, uint8_t cond, struct agxc_ref a, struct agxc_ref b)
{
   struct agxc_instr *instr =
      backend_row(&gen->b, AGX_ISA_OP_IF_ICMP, 2, (struct agxc_ref[]){a, b});
   instr->operand[AGX_ISA_IF_ICMP_COND] = agxc_imm(cond, 64);
}

static bool gen_if(struct generator *gen, const struct stmt *stmt)
{
   struct target join = {0};
   struct snapshot before;
   gen_compare(gen, stmt->cond, gen->vars[stmt->a], gen->vars[stmt->b]);
   struct agxc_if *branch = agxc_if_new(gen->shader);
   agxc_node_append(gen->list, gen->parent, &branch->node);
   memcpy(before.vars, gen->vars, sizeof(before.vars));
   if (gen_inside(gen, &branch->then_list, &branch->node, stmt->then))
      remember(&join, gen);
   memcpy(gen->vars, before.vars, sizeof(before.vars));
   if (gen_inside(gen, &branch->else_list, &branch->node, stmt->orelse))
      remember(&join, gen);
   open_block(gen);
   if (join.count == 0)
      return false;
   merge(gen, &join);
   return true;
}

/* The trip counter is a value of its own: body starts with `if (trip == n) break`. */
static bool gen_loop(struct generator *gen, const struct stmt *stmt)
{
   unsigned count = gen->program->var_count;
   struct agxc_instr *phis[MAX_VARS + 1];
   struct target breaks = {0}, continues = {0};
   struct target *outer_break = gen->on_break, *outer_continue = gen->on_continue;
   struct agxc_loop *loop = agxc_loop_new(gen->shader);
   struct agxc_ref zero =
      backend_value(&gen->b, AGX_ISA_OP_LDIMM16, 16, 1, 1, (struct agxc_ref[]){agxc_imm(0, 64)});
   agxc_node_append(gen->list, gen->parent, &loop->node);
   struct agx_link *outer_list = gen->list;
   struct agxc_node *outer_parent = gen->parent;
   gen->list = &loop->body;
   gen->parent = &loop->node;
   gen->on_break = &breaks;
   gen->on_continue = &continues;

   struct agxc_block *header = open_block(gen);
   for (unsigned v = 0; v <= count; v++) {
      unsigned bits = v < count ? gen->program->bits[v] : 16;
      struct agxc_ref srcs[2] = {v < count ? gen->vars[v] : zero, agxc_none()};
      struct agxc_ref phi = agxc_build(&gen->b, AGXC_OP_PHI, bits, 1, 2, srcs);
      phis[v] = phi.value->def;
      if (v < count)
         gen->vars[v] = phi;
   }
   struct agxc_ref trip = agxc_dests(phis[count])[0];
   gen_compare(gen, AGX_ISA_ICOND_IEQ, trip, agxc_imm(stmt->number, 64));
   struct agxc_if *guard = agxc_if_new(gen->shader);
   agxc_node_append(gen->list, gen->parent, &guard->node);
   static const struct stmt stop = {.kind = BREAK};
   gen_inside(gen, &guard->then_list, &guard->node, &stop);
   gen_inside(gen, &guard->else_list, &guard->node, NULL);
   open_block(gen);

   if (gen_list(gen, stmt->then))
      remember(&continues, gen);
   gen->list = &loop->continuing;
   gen->on_continue = NULL;
   open_block(gen);
   bool repeats = continues.count > 0;
   if (repeats) {
      merge(gen, &continues);
      repeats = gen_list(gen, stmt->orelse);
   }
   struct agxc_ref next = zero;
   if (repeats)
      next = backend_value(&gen->b, AGX_ISA_OP_IADD, 16, 1, 2,
                           (struct agxc_ref[]){trip, agxc_imm(1, 64)});
   for (unsigned v = 0; v <= count; v++) {
      agxc_srcs(phis[v])[1] = v < count ? gen->vars[v] : next;
      if (!repeats)
         phis[v]->operand_count = (uint16_t)(phis[v]->dest_count + (phis[v]->src_count = 1));
   }
   assert_ptr_equal(phis[0]->block, header);
   gen->list = outer_list;
   gen->parent = outer_parent;
   gen->on_break = outer_break;
   gen->on_continue = outer_continue;
   open_block(gen);
   merge(gen, &breaks);
   return true;
}

static struct agxc_ref memory_index(struct generator *gen, struct agxc_ref ref)
{
   return backend_value(&gen->b, AGX_ISA_OP_AND, 32, 1, 2,
                        (struct agxc_ref[]){narrow(&ref), agxc_imm(31, 64)});
}

static struct agxc_ref gen_load(struct generator *gen, struct agxc_ref index, unsigned count)
{
   struct agxc_ref base = agxc_uniform(0, 64, 1);
   return backend_value(&gen->b, AGX_ISA_OP_LOAD, 32, count, 5,
                        (struct agxc_ref[]){base, memory_index(gen, index), agxc_imm(0, 64),
                                            agxc_imm(AGX_ISA_FORMAT_I32, 64),
                                            agxc_imm(agx_bits(count), 64)});
}

/* Stores count words of data at the lane's slot + word. */
static void gen_store(struct generator *gen, struct agxc_ref data, unsigned word, unsigned count)
{
   struct agxc_ref index =
      backend_value(&gen->b, AGX_ISA_OP_LDIMM32, 32, 1, 1, (struct agxc_ref[]){agxc_imm(word, 64)});
   struct agxc_ref sum =
      backend_value(&gen->b, AGX_ISA_OP_IADD, 32, 1, 2, (struct agxc_ref[]){index, gen->slot_base});
   backend_row(
      &gen->b, AGX_ISA_OP_STORE, 6,
      (struct agxc_ref[]){data, agxc_uniform(0, 64, 1), sum, agxc_imm(0, 64),
                          agxc_imm(data.bits == 16 ? AGX_ISA_FORMAT_I16 : AGX_ISA_FORMAT_I32, 64),
                          agxc_imm(agx_bits(count), 64)});
}

static void gen_store_all(struct generator *gen)
{
   for (unsigned v = 0; v < gen->program->var_count; v++) {
      struct agxc_ref data = gen->vars[v], words[2];
      if (gen->program->bits[v] == 16)
         data = backend_value(&gen->b, AGX_ISA_OP_MOV, 32, 1, 1, &data);
      if (gen->program->bits[v] != 64) {
         gen_store(gen, data, 4 + 2 * v, 1);
         continue;
      }
      struct agxc_instr *unpack = agxc_instr_new(gen->shader, AGXC_OP_UNPACK64);
      for (unsigned i = 0; i < 2; i++) {
         struct agxc_value *value = agxc_value_new(gen->shader, 32, 1);
         value->def = unpack;
         unpack->operand[i] = words[i] = agxc_use(value);
      }
      unpack->operand[2] = data;
      agxc_insert(&gen->b, unpack);
      gen_store(gen, agxc_collect(&gen->b, 2, words), 4 + 2 * v, 2);
   }
}

static void gen_simple(struct generator *gen, const struct stmt *stmt)
{
   unsigned bits = gen->program->bits[stmt->dst];
   struct agxc_ref a = gen->vars[stmt->a], b = gen->vars[stmt->b], *dst = &gen->vars[stmt->dst];
   struct agxc_ref elements[4];
   switch (stmt->kind) {
   case ADD:
      *dst = backend_value(&gen->b, AGX_ISA_OP_IADD, bits, 1, 2, (struct agxc_ref[]){a, b});
      break;
   case XOR:
      *dst = backend_value(&gen->b, AGX_ISA_OP_XOR, bits, 1, 2, (struct agxc_ref[]){a, b});
      break;
   case SELECT:
      *dst =
         backend_value(&gen->b, AGX_ISA_OP_ICSEL, bits, 1, 5,
                       (struct agxc_ref[]){a, b, gen->vars[stmt->c], b, agxc_imm(stmt->cond, 64)});
      break;
   case COPY:
      *dst = a.bits == bits ? agxc_build1(&gen->b, AGXC_OP_MOV, bits, a)
                            : backend_value(&gen->b, AGX_ISA_OP_MOV, bits, 1, 1, &a);
      break;
   case CONST:
      *dst = agxc_build1(&gen->b, AGXC_OP_MOV, bits, agxc_imm(stmt->number, bits));
      break;
   case LOAD:
      *dst = gen_load(gen, a, 1);
      break;
   case LOAD4:
      agxc_split(&gen->b, gen_load(gen, a, 4), elements);
      for (unsigned i = 0; i < 4; i++)
         gen->vars[stmt->vars[i]] = elements[i];
      break;
   default:
      for (unsigned i = 0; i < 4; i++)
         elements[i] = gen->vars[stmt->vars[i]];
      gen_store(gen, agxc_collect(&gen->b, 4, elements), 0, 4);
   }
}

static bool gen_list(struct generator *gen, const struct stmt *list)
{
   for (; list; list = list->next) {
      switch (list->kind) {
      case IF:
         if (!gen_if(gen, list))
            return false;
         break;
      case LOOP:
         gen_loop(gen, list);
         break;
      case BREAK:
         remember(gen->on_break, gen);
         leave(gen, AGXC_OP_BREAK);
         return false;
      case CONTINUE:
         remember(gen->on_continue, gen);
         leave(gen, AGXC_OP_CONTINUE);
         return false;
      case RETURN:
         gen_store_all(gen);
         leave(gen, AGXC_OP_RETURN);
         return false;
      default:
         gen_simple(gen, list);
      }
   }
   return true;
}

static void generate(const struct program *program, struct agxc_shader *shader)
{
   struct generator gen = {.program = program, .shader = shader, .list = &shader->body};
   gen.b = agxc_at_end(shader, agxc_first_block(&shader->body));
   struct agxc_ref lane =
      backend_value(&gen.b, AGX_ISA_OP_MFSR, 32, 1, 1,
                    (struct agxc_ref[]){agxc_imm(AGX_ISA_SR_THREAD_INDEX_IN_SIMDGROUP, 64)});
   struct agxc_ref slot = backend_value(&gen.b, AGX_ISA_OP_IMUL, 32, 1, 2,
                                        (struct agxc_ref[]){lane, agxc_imm(SLOT_B / 4, 64)});
   gen.slot_base = backend_value(&gen.b, AGX_ISA_OP_IADD, 32, 1, 2,
                                 (struct agxc_ref[]){slot, agxc_imm(TABLE_WORDS, 64)});
   for (unsigned v = 0; v < program->var_count; v++) {
      if (program->bits[v] == 64)
         gen.vars[v] = agxc_build2(&gen.b, AGXC_OP_PACK64, 64, lane, lane);
      else
         gen.vars[v] = backend_value(&gen.b, AGX_ISA_OP_IADD, program->bits[v], 1, 2,
                                     (struct agxc_ref[]){lane, agxc_imm(v, 64)});
   }
   if (gen_list(&gen, program->body))
      gen_store_all(&gen);
}

/* ---- comparing ---------------------------------------------------------------- */

#define DATA_WORDS (TABLE_WORDS + 32 * SLOT_B / 4)

static void check_program(const struct program *program, uint64_t seed, unsigned threads)
{
   static uint32_t got[DATA_WORDS], want[DATA_WORDS];
   struct agx_test_rng rng = {seed * 77 + 5};
   memset(got, 0, sizeof(got));
   for (unsigned i = 0; i < TABLE_WORDS; i++)
      got[i] = roll((struct program *)program, 3) ? (uint32_t)agx_test_random_below(&rng, 40)
                                                  : (uint32_t)agx_test_random(&rng);
   memcpy(want, got, sizeof(want));
   for (unsigned l = 0; l < 32; l++) {
      struct lane lane = {
         .program = program, .table = want, .slot = want + TABLE_WORDS + l * SLOT_B / 4};
      for (unsigned v = 0; v < program->var_count; v++)
         lane.vars[v] = program->bits[v] == 64 ? l | (uint64_t)l << 32 : l + v;
      if (run_list(&lane, program->body) == FALL)
         store_all(&lane);
   }

   struct backend backend;
   backend_init(&backend);
   backend.shader->local_size[0] = threads;
   generate(program, backend.shader);
   assert_ok(backend_compile(&backend));
   backend_run(&backend, (uint8_t *)got, sizeof(got));
   for (unsigned i = TABLE_WORDS; i < DATA_WORDS; i++)
      if (got[i] != want[i])
         fail_msg("seed %llu, lane %u, word %u: 0x%x, not 0x%x in\n%s", (unsigned long long)seed,
                  (i - TABLE_WORDS) / (SLOT_B / 4), (i - TABLE_WORDS) % (SLOT_B / 4), got[i],
                  want[i], backend.text);
   backend_fini(&backend);
}

static void check_seeds(uint64_t first, unsigned count, unsigned vars, unsigned threads)
{
   static struct program program;
   for (uint64_t seed = first; seed < first + count; seed++) {
      make_program(&program, seed * 0x9e3779b97f4a7c15ull, vars);
      check_program(&program, seed, threads);
   }
}

static void test_few_variables(void **state)
{
   check_seeds(1, 300, 6, 32);
}

static void test_many_variables(void **state)
{
   check_seeds(1000, 100, 20, 32);
}

/* Room for 104 halves only, and nearly all of them live. */
static void test_tight_registers(void **state)
{
   check_seeds(2000, 100, 36, 1024);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_few_variables),
      cmocka_unit_test(test_many_variables),
      cmocka_unit_test(test_tight_registers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
