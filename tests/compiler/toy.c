/* SPDX-License-Identifier: MIT
 *
 * The toy language: random structured programs, interpreted for each lane. toy_ssa.c compiles them;
 * control_test.c compares both.
 */
#include "toy.h"

#include <string.h>

#include "base/util.h"

/* ---- random programs ------------------------------------------------------ */

static unsigned roll(struct toy_program *program, unsigned bound)
{
   return (unsigned)agx_test_random_below(&program->rng, bound);
}

static struct stmt *new_stmt(struct toy_program *program, enum kind kind)
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
static uint8_t var_of(struct toy_program *program, unsigned bits)
{
   for (;;) {
      unsigned var = roll(program, program->var_count);
      if (program->bits[var] == bits)
         return (uint8_t)var;
   }
}

static struct stmt *simple(struct toy_program *program)
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

static struct stmt *make_list(struct toy_program *program, unsigned depth, bool in_loop);

static struct stmt *make_loop(struct toy_program *program, unsigned depth)
{
   struct stmt *loop = new_stmt(program, LOOP);
   loop->number = 1 + roll(program, MAX_TRIPS);
   loop->then = make_list(program, depth, true);
   loop->orelse = roll(program, 2) ? make_list(program, depth + 2, false) : NULL;
   return loop;
}

static struct stmt *make_stmt(struct toy_program *program, unsigned depth, bool in_loop)
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
static struct stmt *make_list(struct toy_program *program, unsigned depth, bool in_loop)
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

void make_program(struct toy_program *program, uint64_t seed, unsigned var_count)
{
   static const uint8_t widths[] = {32, 16, 32, 64, 32, 16, 32, 16};
   memset(program, 0, sizeof(*program));
   program->rng.state = seed;
   program->var_count = var_count;
   for (unsigned i = 0; i < var_count; i++)
      program->bits[i] = i < 4 ? widths[i] : widths[roll(program, AGX_COUNT(widths))];
   program->body = make_list(program, 0, false);
}

/* ---- what they mean ------------------------------------------------------- */

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

void run_lane(struct lane *lane)
{
   if (run_list(lane, lane->program->body) == FALL)
      store_all(lane);
}
