/* SPDX-License-Identifier: MIT
 *
 * Scratch memory from the generic operations to the simulator: what a thread stores comes
 * back to it and to no other, at offsets from registers and immediates.
 */
#include "backend_support.h"

#include <string.h>

#include "agx/compiler/select/select.h"
#include "agx/compiler/ir/launch_slots.h"

static struct agxc_ref base(void)
{
   return agxc_uniform(0, 64, 1);
}

static struct agxc_builder start(struct backend *backend)
{
   backend_init(backend);
   struct agxc_block *block = agxc_first_block(&backend->shader->body);
   if (!block) {
      block = agxc_block_new(backend->shader);
      agxc_node_append(&backend->shader->body, NULL, &block->node);
   }
   return agxc_at_end(backend->shader, block);
}

static void emit(struct agxc_builder *b, enum agxc_op op, struct agxc_ref dest, unsigned count,
                 const struct agxc_ref *srcs)
{
   struct agxc_instr *instr = agxc_instr_new(b->shader, op);
   if (dest.kind == AGXC_VALUE)
      agxc_define(instr, dest);
   if (count)
      memcpy(agxc_srcs(instr), srcs, count * sizeof(*srcs));
   for (unsigned i = instr->dest_count + instr->src_count; i < instr->operand_count; i++)
      instr->operand[i] = agxc_imm(0, 32);
   agxc_insert(b, instr);
}

static struct agxc_ref lane(struct agxc_builder *b)
{
   return agxc_build_sysval(b, AGXC_SYSVAL_SUBGROUP_LANE);
}

static void store_scratch(struct agxc_builder *b, struct agxc_ref offset, struct agxc_ref data)
{
   emit(b, AGXC_OP_STORE_SCRATCH, agxc_none(), 2, (struct agxc_ref[]){offset, data});
}

static struct agxc_ref load_scratch(struct agxc_builder *b, struct agxc_ref offset, unsigned count)
{
   struct agxc_ref dest = agxc_use(agxc_value_new(b->shader, 32, count));
   emit(b, AGXC_OP_LOAD_SCRATCH, dest, 1, &offset);
   return dest;
}

static agx_status select_and_compile(struct backend *backend)
{
   if (setjmp(backend->exhausted))
      return backend->shader->status;
   agxc_select(backend->shader);
   return backend_compile(backend);
}

/* Lane i fills [4, 68) with i * 3 + word, then reads word i % 16 through a register, and
 * words 2 and 3 as a vector at an immediate. */
static void test_own_memory(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   uint32_t at = agxc_scratch_alloc(backend.shader, 3);
   uint32_t array = agxc_scratch_alloc(backend.shader, 64);
   assert_int_equal(at, 0);
   assert_int_equal(array, 4);
   struct agxc_ref id = lane(&b), two[2];
   struct agxc_ref tripled = agxc_build2(&b, AGXC_OP_IMUL, 32, id, agxc_imm(3, 32));
   for (uint32_t i = 0; i < 16; i++)
      store_scratch(&b, agxc_imm(array + 4 * i, 32),
                    agxc_build2(&b, AGXC_OP_IADD, 32, tripled, agxc_imm(i, 32)));
   struct agxc_ref word = agxc_build2(&b, AGXC_OP_IAND, 32, id, agxc_imm(15, 32));
   struct agxc_ref offset = agxc_build2(&b, AGXC_OP_ISHL, 32, word, agxc_imm(2, 32));
   offset = agxc_build2(&b, AGXC_OP_IADD, 32, offset, agxc_imm(array, 32));
   struct agxc_ref got = load_scratch(&b, offset, 1);
   agxc_split(&b, load_scratch(&b, agxc_imm(array + 8, 32), 2), two);
   struct agxc_ref all[4] = {got, two[0], two[1], id};
   struct agxc_ref out = agxc_build2(&b, AGXC_OP_ISHL, 32, id, agxc_imm(4, 32));
   emit(&b, AGXC_OP_STORE_GLOBAL, agxc_none(), 3,
        (struct agxc_ref[]){base(), out, agxc_collect(&b, 4, all)});
   assert_ok(select_and_compile(&backend));
   uint32_t data[32][4] = {0};
   backend_run(&backend, (uint8_t *)data, sizeof(data));
   for (uint32_t i = 0; i < 32; i++) {
      assert_int_equal(data[i][0], 3 * i + i % 16);
      assert_int_equal(data[i][1], 3 * i + 2);
      assert_int_equal(data[i][2], 3 * i + 3);
      assert_int_equal(data[i][3], i);
   }
   /* 68 bytes are 17 words; 10 more and rounding make 28. */
   assert_non_null(strstr(backend.text, "stack_adjust index=28\n"));
   assert_ptr_equal(strstr(backend.text, "stack_adjust"), backend.text);
   backend_fini(&backend);
}

/* Without scratch memory nothing is taken. */
static void test_none(void **state)
{
   struct backend backend;
   struct agxc_builder b = start(&backend);
   lane(&b);
   assert_ok(select_and_compile(&backend));
   assert_null(strstr(backend.text, "stack_adjust"));
   backend_fini(&backend);
}

static agx_status allocate(struct backend *backend, uint64_t bytes)
{
   if (setjmp(backend->exhausted))
      return backend->shader->status;
   agxc_scratch_alloc(backend->shader, bytes);
   return AGX_OK;
}

static void test_limit(void **state)
{
   struct backend backend;
   start(&backend);
   assert_ok(allocate(&backend, AGX_PROGRAM_MAX_SCRATCH_B - 2));
   assert_fails(allocate(&backend, 1), AGX_RESOURCE_EXHAUSTED, "a thread may have 65536");
   assert_fails(allocate(&backend, UINT64_MAX), AGX_RESOURCE_EXHAUSTED, "scratch memory");
   backend_fini(&backend);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own_memory),
      cmocka_unit_test(test_none),
      cmocka_unit_test(test_limit),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
