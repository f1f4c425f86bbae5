/* SPDX-License-Identifier: MIT
 *
 * Single properties of the back end's passes, on small shaders: what is live, where vectors end up,
 * what code an if or a loop becomes, where waits stand.
 */
#include "backend_support.h"

#include <stdlib.h>
#include <string.h>

#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/regalloc/ra_impl.h"
#include "base/util.h"

/* ---- building ------------------------------------------------------------- */

static struct agxc_builder start(struct backend *backend)
{
   backend_init(backend);
   return agxc_at_end(backend->shader, agxc_first_block(&backend->shader->body));
}

static struct agxc_ref lane(struct agxc_builder *b)
{
   return backend_value(b, AGX_ISA_OP_MFSR, 32, 1, 1,
                        (struct agxc_ref[]){agxc_imm(AGX_ISA_SR_THREAD_INDEX_IN_SIMDGROUP, 64)});
}

static struct agxc_ref load(struct agxc_builder *b, struct agxc_ref index, unsigned count)
{
   return backend_value(b, AGX_ISA_OP_LOAD, 32, count, 5,
                        (struct agxc_ref[]){agxc_uniform(0, 64, 1), index, agxc_imm(0, 64),
                                            agxc_imm(AGX_ISA_FORMAT_I32, 64),
                                            agxc_imm(agx_bits(count), 64)});
}

static void store(struct agxc_builder *b, struct agxc_ref data, struct agxc_ref index)
{
   backend_instr(b, AGX_ISA_OP_STORE, 6,
                 (struct agxc_ref[]){data, agxc_uniform(0, 64, 1), index, agxc_imm(0, 64),
                                     agxc_imm(AGX_ISA_FORMAT_I32, 64),
                                     agxc_imm(agx_bits(data.count), 64)});
}

static struct agxc_ref add(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y)
{
   return backend_value(b, AGX_ISA_OP_IADD, 32, 1, 2, (struct agxc_ref[]){x, y});
}

static unsigned count_of(const struct backend *backend, const char *word)
{
   unsigned count = 0;
   for (const char *at = backend->text; (at = strstr(at, word)); at++)
      count++;
   return count;
}

static void compile_to(struct backend *backend, const char *expected)
{
   assert_ok(backend_compile(backend));
   assert_string_equal(backend->text, expected);
   backend_fini(backend);
}

/* An if behind b's block, on x == 0; leaves b behind it. */
static struct agxc_if *make_if(struct agxc_builder *b, struct agxc_ref x, struct agx_link *list,
                               struct agxc_node *parent)
{
   backend_instr(b, AGX_ISA_OP_IF_ICMP, 2, (struct agxc_ref[]){x, agxc_imm(0, 64)});
   struct agxc_if *branch = agxc_if_new(b->shader);
   agxc_node_append(list, parent, &branch->node);
   agxc_node_append(&branch->then_list, &branch->node, &agxc_block_new(b->shader)->node);
   agxc_node_append(&branch->else_list, &branch->node, &agxc_block_new(b->shader)->node);
   struct agxc_block *behind = agxc_block_new(b->shader);
   agxc_node_append(list, parent, &behind->node);
   *b = agxc_at_end(b->shader, behind);
   return branch;
}

static void put(struct agxc_shader *shader, struct agx_link *list, enum agxc_op op)
{
   struct agxc_builder b = agxc_at_end(shader, agxc_first_block(list));
   agxc_insert(&b, agxc_instr_new(shader, op));
}

/* ---- liveness --------------------------------------------------------------- */

static void test_liveness(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), y = add(&b, x, x), z = add(&b, x, y);
   struct agxc_if *branch = make_if(&b, z, &backend.shader->body, NULL);
   struct agxc_builder then = agxc_at_end(backend.shader, agxc_first_block(&branch->then_list));
   struct agxc_ref inner = add(&then, y, y);
   struct agxc_ref phi = agxc_build2(&b, AGXC_OP_PHI, 32, inner, x);
   store(&b, phi, x);

   agxc_index(backend.shader);
   struct agxc_liveness *live = agxc_liveness_compute(backend.shader);
   struct agxc_block **blocks = backend.shader->blocks;
   struct agxc_live_set entry = agxc_live_set_new(backend.shader);
   struct agxc_live_set arm = agxc_live_set_new(backend.shader);
   agxc_liveness_at_end(live, blocks[2], &entry);
   agxc_liveness_at_end(live, blocks[0], &entry);
   agxc_liveness_at_end(live, blocks[1], &arm);
   assert_true(agx_bitset_test(entry.bits, x.value->id));
   assert_true(agx_bitset_test(entry.bits, y.value->id));
   assert_false(agx_bitset_test(entry.bits, z.value->id));
   assert_false(agxc_is_live_in(live, blocks[2], y.value));
   assert_true(agx_bitset_test(arm.bits, inner.value->id));
   assert_true(agx_bitset_test(arm.bits, x.value->id));
   assert_false(agx_bitset_test(arm.bits, y.value->id));
   assert_false(agxc_is_live_in(live, blocks[3], phi.value));
   assert_int_equal(live->max_halves, 6);
   backend_fini(&backend);
}

/* A matrix product can't lie over its factors, though they end there, nor over a sum that lives. */
static void late_sources_take_room_beside_results(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), factor = load(&b, x, 2), sum = load(&b, x, 2);
   struct agxc_ref product = backend_value(&b, AGX_ISA_OP_SIMD_MATRIX_FMADD32, 32, 2, 3,
                                           (struct agxc_ref[]){factor, factor, sum});
   store(&b, sum, agxc_imm(0, 32));
   store(&b, product, agxc_imm(0, 32));
   agxc_index(backend.shader);
   assert_int_equal(agxc_liveness_compute(backend.shader)->max_halves, 12);
   backend_fini(&backend);
}

/* A hostile circle does not keep the pass busy; nothing moves. */
static void collects_that_read_each_other_end(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref refs[2];
   struct agxc_instr *collects[2];
   for (unsigned i = 0; i < 2; i++) {
      refs[i] = agxc_use(agxc_value_new(backend.shader, 32, 1));
      collects[i] = agxc_instr_new_n(backend.shader, AGXC_OP_COLLECT, 1, 1);
      refs[i].value->def = collects[i];
      agxc_dests(collects[i])[0] = refs[i];
      agxc_insert(&b, collects[i]);
   }
   agxc_srcs(collects[0])[0] = refs[1];
   agxc_srcs(collects[1])[0] = refs[0];
   agxc_index(backend.shader);
   agxc_ra_sink_collects(backend.shader);
   assert_ptr_equal(collects[0]->link.next, &collects[1]->link);
   backend_fini(&backend);
}

/* ---- registers ---------------------------------------------------------------- */

static void test_straight_line(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b);
   struct agxc_ref v = load(&b, x, 1);
   store(&b, add(&b, v, agxc_imm(7, 64)), x);
   compile_to(&backend, "mfsr d=r0 sr=thread_index_in_simdgroup\n"
                        "load r=r1 base=du0 index=r0 format=i32 mask=x group=a\n"
                        "wait group=a\n"
                        "iadd d=r1 a=^r1 b=7\n"
                        "store r=r1 base=du0 index=r0 format=i32 mask=x group=a\n");
}

/* Elements that become a vector are made where they belong; a vector that dies is taken
 * apart where it is. */
static void test_vectors_in_place(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), in[4], out[4];
   agxc_split(&b, load(&b, x, 4), in);
   for (unsigned i = 0; i < 4; i++)
      out[i] = add(&b, in[i], agxc_imm(i, 64));
   store(&b, agxc_collect(&b, 4, out), x);
   assert_ok(backend_compile(&backend));
   assert_int_equal(count_of(&backend, "mov"), 0);
   assert_int_equal(count_of(&backend, "\n"), 8);
   assert_int_equal(backend.shader->gpr_halves, 10);
   backend_fini(&backend);
}

/* Elements that live on are the vector for its store; the low half of a word is there. */
static void test_names_only(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), out[4];
   for (unsigned i = 0; i < 4; i++)
      out[i] = add(&b, x, agxc_imm(i, 64));
   store(&b, agxc_collect(&b, 4, out), x);
   struct agxc_ref low = backend_value(&b, AGX_ISA_OP_MOV, 16, 1, 1, &out[0]);
   struct agxc_ref sum = add(&b, low, out[1]);
   store(&b, add(&b, add(&b, sum, out[0]), add(&b, out[2], out[3])), x);
   assert_ok(backend_compile(&backend));
   assert_int_equal(count_of(&backend, "mov"), 0);
   uint32_t data[128] = {0};
   backend_run(&backend, (uint8_t *)data, sizeof(data));
   assert_int_equal(data[31], 31 + 4 * 31 + 6);
   assert_int_equal(data[34], 31 + 3);
   backend_fini(&backend);
}

/* Two vectors for one reader: both end up in front of it, and the pass ends. */
static void test_two_vectors(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), y = add(&b, x, x), parts[2] = {x, y};
   struct agxc_ref factors[3] = {agxc_collect(&b, 2, parts), agxc_collect(&b, 2, parts)};
   factors[2] = load(&b, x, 2);
   struct agxc_ref product = backend_value(&b, AGX_ISA_OP_SIMD_MATRIX_FMADD32, 32, 2, 3, factors);
   store(&b, product, x);
   assert_ok(backend_compile(&backend));
   assert_int_equal(count_of(&backend, "simd_matrix"), 1);
   backend_fini(&backend);
}

/* Code with so many words alive at once, up to 64, besides the lane's. */
static void use_words(struct backend *backend, struct agxc_builder *b, unsigned words)
{
   struct agxc_ref x = lane(b), values[64];
   for (unsigned i = 0; i < words; i++)
      values[i] = add(b, x, agxc_imm(i, 64));
   make_if(b, x, &backend->shader->body, NULL); /* nothing moves over it */
   for (unsigned i = 0; i < words; i++)
      store(b, values[i], x);
}

/* More than fits goes to memory and comes back. */
static void test_out_of_registers(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   backend.shader->local_size[0] = 1024;
   use_words(&backend, &b, 60);
   assert_ok(backend_compile(&backend));
   assert_true(backend.shader->gpr_halves <= 104);
   assert_in_range(backend.shader->stats.spills, 8, 24);
   assert_int_equal(backend.shader->stats.fills, backend.shader->stats.spills);
   backend_fini(&backend);
}

/* They have no scratch memory; the limit is for what main code spills. */
static void preambles_take_the_registers_they_need(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_shader main = *backend.shader;
   backend.options.most_halves = 56;
   backend.shader->main = &main;
   use_words(&backend, &b, 60);
   assert_ok(backend_compile(&backend));
   assert_int_equal(backend.shader->stats.spills, 0);
   backend_fini(&backend);
}

/* Operands of one instruction that don't fit: refused by name, with numbers. */
static void test_too_few_registers(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   backend.options.most_halves = 6;
   struct agxc_ref x = lane(&b);
   store(&b, load(&b, x, 4), x);
   assert_fails(backend_compile(&backend), AGX_RESOURCE_EXHAUSTED,
                "6 available to a workgroup of 32 threads");
   backend_fini(&backend);
}

/* 51 words and the counter of levels are just 104 halves. */
static void test_last_register(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   backend.shader->local_size[0] = 1024;
   use_words(&backend, &b, 50);
   assert_ok(backend_compile(&backend));
   assert_int_equal(backend.shader->gpr_halves, 104);
   assert_int_equal(backend.shader->stats.threads, 1024);
   backend_fini(&backend);
}

/* Compiles code with so many words alive at once in a workgroup of so many threads. */
static struct agx_program_stats stats_with(unsigned words, uint32_t threads)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   backend.shader->local_size[0] = threads;
   use_words(&backend, &b, words);
   assert_ok(backend_compile(&backend));
   struct agx_program_stats stats = backend.shader->stats;
   backend_fini(&backend);
   return stats;
}

/* 104 halves leave room for two workgroups of 512 threads, 105 for one. */
static void a_few_spills_keep_a_second_workgroup(void **state)
{
   struct agx_program_stats near = stats_with(52, 512);
   assert_in_range(near.spills, 1, 16);
   assert_int_equal(near.threads, 1024);
   assert_int_equal(stats_with(54, 512).spills, 0); /* too many */
   assert_int_equal(stats_with(52, 64).spills, 0);  /* one workgroup of sixteen more */
   assert_int_equal(stats_with(50, 512).spills, 0);
}

/* The low halves of words, read longer than these: as names they would keep 160 halves alive. */
static void cuts_do_not_keep_more_than_fits(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   backend.options.most_halves = 130;
   struct agxc_ref x = lane(&b), words[40], cuts[40], more[40];
   for (unsigned i = 0; i < AGX_COUNT(words); i++)
      words[i] = add(&b, x, agxc_imm(i, 64));
   for (unsigned i = 0; i < AGX_COUNT(words); i++)
      cuts[i] = backend_value(&b, AGX_ISA_OP_MOV, 16, 1, 1, &words[i]);
   for (unsigned i = 0; i < AGX_COUNT(words); i++)
      store(&b, words[i], x);
   for (unsigned i = 0; i < AGX_COUNT(words); i++)
      more[i] = add(&b, x, cuts[i]);
   for (unsigned i = 0; i < AGX_COUNT(words); i++)
      store(&b, add(&b, more[i], cuts[i]), x);
   assert_ok(backend_compile(&backend));
   backend_fini(&backend);
}

static agx_status validate(struct backend *backend, struct agxc_ra *ra,
                           const struct agxc_ra_record *record)
{
   if (setjmp(backend->exhausted))
      return backend->shader->status;
   agxc_ra_validate(ra, record);
   return AGX_OK;
}

/* The checker believes what is right and finds a register that holds another value. */
static void test_validator(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), y = add(&b, x, x);
   store(&b, y, x);
   agxc_index(backend.shader);
   struct agxc_border border = {0};
   struct agxc_ra ra = {.shader = backend.shader, .borders = &border};
   const struct agxc_ra_record *record = agxc_ra_record(backend.shader);
   agxc_foreach_instr (instr, backend.shader->blocks[0])
      for (unsigned i = 0; i < instr->operand_count; i++)
         if (instr->operand[i].kind == AGXC_VALUE)
            instr->operand[i] = agxc_reg(instr->operand[i].value == x.value ? 2 : 4, 32, 1);
   assert_ok(validate(&backend, &ra, record));
   agxc_dests(x.value->def)[0].half = 6;
   assert_fails(validate(&backend, &ra, record), AGX_INTERNAL, "block 0, iadd: half 2");
   agxc_dests(x.value->def)[0].half = 2;
   agxc_dests(y.value->def)[0].half = 2;
   assert_fails(validate(&backend, &ra, record), AGX_INTERNAL, "block 0, store");
   backend_fini(&backend);
}

/* ---- control flow ---------------------------------------------------------------- */

static void test_if_else(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b);
   struct agxc_if *branch = make_if(&b, x, &backend.shader->body, NULL);
   struct agxc_builder then = agxc_at_end(backend.shader, agxc_first_block(&branch->then_list));
   struct agxc_builder other = agxc_at_end(backend.shader, agxc_first_block(&branch->else_list));
   store(&b,
         agxc_build2(&b, AGXC_OP_PHI, 32, add(&then, x, agxc_imm(1, 64)),
                     add(&other, x, agxc_imm(2, 64))),
         x);
   compile_to(&backend, "mfsr d=r1 sr=thread_index_in_simdgroup\n"
                        "ldimm16 d=r0l imm=0\n"
                        "if_icmp a=r1 b=0 nest=1 cond=ieq\n"
                        "iadd d=r2 a=r1 b=1\n"
                        "else_fcmp a=0.0 b=0.0 nest=1 cond=feq\n"
                        "iadd d=r2 a=r1 b=2\n"
                        "pop_exec nest=1\n"
                        "store r=r2 base=du0 index=r1 format=i32 mask=x group=a\n");
}

/* loop { if (x == 0) break; x -= 1 }: a while and no levels. */
static void test_while(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_shader *shader = backend.shader;
   struct agxc_ref x = lane(&b);
   struct agxc_loop *loop = agxc_loop_new(shader);
   agxc_node_append(&shader->body, NULL, &loop->node);
   agxc_node_append(&loop->body, &loop->node, &agxc_block_new(shader)->node);
   agxc_node_append(&loop->continuing, &loop->node, &agxc_block_new(shader)->node);
   struct agxc_block *behind = agxc_block_new(shader);
   agxc_node_append(&shader->body, NULL, &behind->node);

   b = agxc_at_end(shader, agxc_first_block(&loop->body));
   struct agxc_ref phi = agxc_build2(&b, AGXC_OP_PHI, 32, x, agxc_none());
   struct agxc_if *branch = make_if(&b, phi, &loop->body, &loop->node);
   put(shader, &branch->then_list, AGXC_OP_BREAK);
   b = agxc_at_end(shader, agxc_first_block(&loop->continuing));
   agxc_srcs(phi.value->def)[1] = add(&b, phi, agxc_imm(255, 64));
   b = agxc_at_end(shader, behind);
   store(&b, phi, x);
   compile_to(&backend, "mfsr d=$r1 sr=thread_index_in_simdgroup\n"
                        "mov d=r2 a=r1\n"
                        "ldimm16 d=r0l imm=0\n"
                        "while_icmp a=r2 b=0 nest=1 cond=ine\n"
                        "iadd d=r2 a=r2 b=255\n"
                        "jmp_any offset=-14\n"
                        "pop_exec nest=1\n"
                        "store r=r2 base=du0 index=r1 format=i32 mask=x group=a\n");
}

/* A long arm is jumped over when no lane takes it. */
static void test_skip(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b);
   struct agxc_if *branch = make_if(&b, x, &backend.shader->body, NULL);
   b = agxc_at_end(backend.shader, agxc_first_block(&branch->then_list));
   for (unsigned i = 0; i < 5; i++)
      store(&b, x, x);
   compile_to(&backend, "mfsr d=r1 sr=thread_index_in_simdgroup\n"
                        "ldimm16 d=r0l imm=0\n"
                        "if_icmp a=r1 b=0 nest=1 cond=ieq\n"
                        "jmp_none offset=46\n"
                        "store r=r1 base=du0 index=r1 format=i32 mask=x group=a\n"
                        "store r=r1 base=du0 index=r1 format=i32 mask=x group=a\n"
                        "store r=r1 base=du0 index=r1 format=i32 mask=x group=a\n"
                        "store r=r1 base=du0 index=r1 format=i32 mask=x group=a\n"
                        "store r=r1 base=du0 index=r1 format=i32 mask=x group=a\n");
}

/* ---- waits ------------------------------------------------------------------------- */

/* One wait serves loads that were issued together; stores need none. */
static void test_one_wait(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), y = load(&b, x, 1), z = load(&b, x, 1);
   store(&b, add(&b, y, z), x);
   assert_ok(backend_compile(&backend));
   assert_int_equal(backend.shader->stats.waits, 1);
   assert_int_equal(backend.shader->stats.loads, 2);
   assert_int_equal(backend.shader->stats.instructions, 7);
   assert_true(backend.shader->stats.cycles >= 7);
   backend_fini(&backend);
}

/* A load moves up to the one before it, with its address, but never past a store. */
static void test_loads_together(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), y = load(&b, x, 1);
   struct agxc_ref sum = add(&b, y, x), next = add(&b, x, agxc_imm(1, 64));
   struct agxc_ref z = load(&b, next, 1);
   store(&b, add(&b, sum, z), x);
   store(&b, load(&b, x, 1), next);
   compile_to(&backend, "mfsr d=$r0 sr=thread_index_in_simdgroup\n"
                        "load r=r1 base=du0 index=r0 format=i32 mask=x group=a\n"
                        "iadd d=r2 a=$r0 b=1\n"
                        "load r=r3 base=du0 index=r2 format=i32 mask=x group=a\n"
                        "wait group=a\n"
                        "iadd d=$r1 a=^r1 b=r0\n"
                        "iadd d=r1 a=^r1 b=^r3\n"
                        "store r=r1 base=du0 index=r0 format=i32 mask=x group=a\n"
                        "load r=r0 base=du0 index=r0 format=i32 mask=x group=a\n"
                        "wait group=a\n"
                        "store r=r0 base=du0 index=r2 format=i32 mask=x group=a\n");
}

/* The ninth of a group has to wait, and a barrier waits for stores. */
static void test_full_group(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b);
   for (unsigned i = 0; i < 9; i++)
      store(&b, x, x);
   backend_instr(&b, AGX_ISA_OP_BARRIER, 0, NULL);
   assert_ok(backend_compile(&backend));
   assert_int_equal(count_of(&backend, "wait"), 2);
   assert_non_null(strstr(backend.text, "wait group=b\nbarrier"));
   backend_fini(&backend);
}

/* What is pending when an arm ends is waited for where it is used, not before. */
static void test_wait_across_blocks(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b);
   struct agxc_if *branch = make_if(&b, x, &backend.shader->body, NULL);
   struct agxc_builder then = agxc_at_end(backend.shader, agxc_first_block(&branch->then_list));
   struct agxc_ref y = load(&then, x, 1);
   struct agxc_ref phi = agxc_build2(&b, AGXC_OP_PHI, 32, y, agxc_imm(0, 32));
   store(&b, phi, x);
   assert_ok(backend_compile(&backend));
   assert_int_equal(backend.shader->stats.waits, 1);
   assert_non_null(strstr(backend.text, "wait group=a\nmov")); /* to the load's register */
   backend_fini(&backend);
}

/* loop { if (x == 0) break; x -= y } with y loaded before: one wait, in front. */
static void test_wait_before_loop(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_shader *shader = backend.shader;
   struct agxc_ref x = lane(&b), y = load(&b, x, 1);
   struct agxc_loop *loop = agxc_loop_new(shader);
   agxc_node_append(&shader->body, NULL, &loop->node);
   agxc_node_append(&loop->body, &loop->node, &agxc_block_new(shader)->node);
   agxc_node_append(&loop->continuing, &loop->node, &agxc_block_new(shader)->node);
   struct agxc_block *behind = agxc_block_new(shader);
   agxc_node_append(&shader->body, NULL, &behind->node);

   b = agxc_at_end(shader, agxc_first_block(&loop->body));
   struct agxc_ref phi = agxc_build2(&b, AGXC_OP_PHI, 32, x, agxc_none());
   struct agxc_if *branch = make_if(&b, phi, &loop->body, &loop->node);
   put(shader, &branch->then_list, AGXC_OP_BREAK);
   b = agxc_at_end(shader, agxc_first_block(&loop->continuing));
   agxc_srcs(phi.value->def)[1] = add(&b, phi, y);
   b = agxc_at_end(shader, behind);
   store(&b, phi, x);
   compile_to(&backend, "mfsr d=$r1 sr=thread_index_in_simdgroup\n"
                        "load r=r2 base=du0 index=r1 format=i32 mask=x group=a\n"
                        "mov d=r3 a=r1\n"
                        "ldimm16 d=r0l imm=0\n"
                        "wait group=a\n"
                        "while_icmp a=r3 b=0 nest=1 cond=ine\n"
                        "iadd d=r3 a=r3 b=r2\n"
                        "jmp_any offset=-14\n"
                        "pop_exec nest=1\n"
                        "store r=r3 base=du0 index=r1 format=i32 mask=x group=a\n");
}

/* A late load that is used late doesn't make an early one's user wait. */
static void test_groups_by_use(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   struct agxc_ref x = lane(&b), y = load(&b, x, 1), z = x;
   for (unsigned i = 0; i < 30; i++)
      z = add(&b, z, x);
   struct agxc_ref late = load(&b, z, 1);
   store(&b, y, x);
   for (unsigned i = 0; i < 30; i++)
      z = add(&b, z, x);
   store(&b, late, z);
   assert_ok(backend_compile(&backend));
   assert_int_equal(count_of(&backend, "wait group=a"), 1);
   assert_int_equal(count_of(&backend, "wait group=b"), 1);
   backend_fini(&backend);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_liveness),
      cmocka_unit_test(late_sources_take_room_beside_results),
      cmocka_unit_test(collects_that_read_each_other_end),
      cmocka_unit_test(test_straight_line),
      cmocka_unit_test(test_vectors_in_place),
      cmocka_unit_test(test_names_only),
      cmocka_unit_test(test_two_vectors),
      cmocka_unit_test(test_out_of_registers),
      cmocka_unit_test(preambles_take_the_registers_they_need),
      cmocka_unit_test(test_too_few_registers),
      cmocka_unit_test(test_last_register),
      cmocka_unit_test(a_few_spills_keep_a_second_workgroup),
      cmocka_unit_test(cuts_do_not_keep_more_than_fits),
      cmocka_unit_test(test_validator),
      cmocka_unit_test(test_if_else),
      cmocka_unit_test(test_while),
      cmocka_unit_test(test_skip),
      cmocka_unit_test(test_one_wait),
      cmocka_unit_test(test_full_group),
      cmocka_unit_test(test_loads_together),
      cmocka_unit_test(test_wait_across_blocks),
      cmocka_unit_test(test_wait_before_loop),
      cmocka_unit_test(test_groups_by_use),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
