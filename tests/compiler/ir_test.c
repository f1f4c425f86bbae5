/* SPDX-License-Identifier: MIT
 *
 * Text to IR and back, the validator's rules, and what gen_ir.py makes of the tables: builders and
 * accessors. Tests of passes are IR files.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "agx/compiler/ir/machine_operand.h"

struct context {
   struct agx_arena arena;
   jmp_buf failed;
   struct agxc_options options;
};

static void begin(struct context *c)
{
   *c = (struct context){.options = {.chip = agx_chip_find("g13g")}};
   agx_arena_init(&c->arena, NULL, SIZE_MAX, &c->failed);
}

#define HEADER "shader main local 32x1x1 shared 0 push 0\n"

static struct agxc_shader *parse(struct context *c, const char *body)
{
   struct agxc_shader *shader = NULL;
   const char *text = agx_arena_printf(&c->arena, HEADER "%s", body);
   assert_ok(agxc_parse(&c->arena, &c->options, text, &shader));
   shader->binding_count = 2;
   return shader;
}

/* ---- text ------------------------------------------------------------- */

/* Each text that the pipeline shows must come back the same. */
static void reparse(void *user, const char *pass, const char *text)
{
   unsigned *count = user;
   struct context c;
   struct agxc_shader *shader = NULL;
   if (strncmp(pass, "asm", 3) == 0)
      return;
   begin(&c);
   assert_ok(agxc_parse(&c.arena, &c.options, text, &shader));
   assert_string_equal(agxc_print(shader, &c.arena), text);
   agx_arena_fini(&c.arena);
   (*count)++;
}

static void every_stage_of_the_corpus_reads_back(void **state)
{
   static const char *const kernels[] = {"saxpy",  "jacobi",         "matmul_tiled_f32",
                                         "bitops", "atomics_global", "private_array"};
   unsigned count = 0;
   for (size_t i = 0; i < AGX_COUNT(kernels); i++) {
      char name[64];
      size_t size;
      snprintf(name, sizeof(name), "corpus/%s.spv", kernels[i]);
      char *path = agx_test_path(name), *spirv = agx_test_read_file(path, &size);
      struct agxc_options options = {.chip = agx_chip_find("g13g"),
                                     .dump = reparse,
                                     .dump_user = &count,
                                     .debug = AGXC_DEBUG_VALIDATE};
      struct agx_program *program = NULL;
      assert_ok(agxc_compile(spirv, size, &options, &program));
      agx_program_free(program);
      free(spirv);
      free(path);
   }
   assert_true(count >= AGX_COUNT(kernels) * 10);
}

static void what_is_wrong_in_text_is_named(void **state)
{
   static const struct {
      const char *text, *message;
   } cases[] = {
      {"shader x\n", "first line"},
      {HEADER "%0:32 = frobnicate %1:32\n", "line 2: unknown operation \"frobnicate\""},
      {HEADER "%0:32 = iadd %1:32\n", "1 destinations and 2 operands for"},
      {HEADER "%0:33 = mov #1:32\n", "33 bits"},
      {HEADER "%0:32 = mov %1:32\n%2:32 = mov %1:16\n", "line 3: value 1 had another shape"},
      {HEADER "%0:32 = mov ?\n", "an operand is missing"},
      {HEADER "else\n", "else where there is nothing"},
      {HEADER "if\nelse\nelse\nend\n", "line 4: a second else or continuing"},
      {HEADER "loop\ncontinuing\ncontinuing\nend\n", "line 4: a second else or continuing"},
      {HEADER "end\n", "end where nothing is open"},
      {HEADER "loop\n", "1 blocks of control flow are open"},
      {HEADER "%0:32 = mov %1:32.odd\n", "unknown modifier"},
      {HEADER "%0:32 = mov.odd %1:32\n", "unknown flag \"odd\""},
      {HEADER "%0:32 = sysval nothing\n", "a number is missing at \"nothing"},
      {HEADER "%0:32 = load_push access=4\n", "a number is missing at \"access=4"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct context c;
      struct agxc_shader *shader;
      begin(&c);
      assert_fails(agxc_parse(&c.arena, &c.options, cases[i].text, &shader), AGX_INVALID_ARGUMENT,
                   cases[i].message);
      agx_arena_fini(&c.arena);
   }
}

/* ---- validator -------------------------------------------------------- */

static void broken_rules_are_found(void **state)
{
   static const struct {
      const char *body;
      enum agxc_stage stage;
      const char *message;
   } cases[] = {
      {"%0:32 = iadd %1:32, #1:32\n", AGXC_STAGE_GENERIC, "value 1 is not defined"},
      {"%0:32 = mov #1:32\n%0:32 = mov #2:32\n", AGXC_STAGE_GENERIC, "definition"},
      {"%0:32 = phi #1:32\n", AGXC_STAGE_GENERIC, "1 sources in a block with 0 predecessors"},
      {"loop\n%0:32 = mov #1:32\n%1:32 = phi #0:32, #1:32\nend\n", AGXC_STAGE_GENERIC,
       "a phi behind another operation"},
      {"return\n%0:32 = mov #1:32\n", AGXC_STAGE_GENERIC, "a terminator inside its block"},
      {"%0:32 = agx.mov #1:32\n", AGXC_STAGE_GENERIC, "a machine instruction before selection"},
      {"%0:32 = iadd #1:32, #1:32\n", AGXC_STAGE_MACHINE, "a generic operation after selection"},
      {"%0:32 = agx.mov #1:32\n", AGXC_STAGE_REGISTERS, "destination of kind"},
      {"r0l:32 = mov #1:32\n", AGXC_STAGE_REGISTERS, "a generic operation after register"},
      {"%0:32 = iadd r0l:32, #1:32\n", AGXC_STAGE_GENERIC, "a register before selection"},
      {"r127h:32 = agx.mov #1:32\n", AGXC_STAGE_REGISTERS, "half 256 of 256 of registers"},
      {"%0:64 = buffer_address binding=64\n", AGXC_STAGE_GENERIC, "binding 64"},
      {"if\nend\n", AGXC_STAGE_GENERIC, "an if without a condition"},
      {"loop\nbreak\nif\nend\nend\n", AGXC_STAGE_MACHINE, "an if without a condition"},
      {"if\nend\n", AGXC_STAGE_REGISTERS, "an if without a condition"},
      {"break\n", AGXC_STAGE_REGISTERS, "outside of a loop"},
      {"loop\nbreak\nend\n", AGXC_STAGE_JUMPS, "a structured jump after lower_control"},
      {"agx.jmp_any #0:64\n", AGXC_STAGE_REGISTERS, "a jump before lower_control"},
      {"agx.jmp_any #1:64\n", AGXC_STAGE_JUMPS, "a jump to a block that there is not"},
      {"%0:32 = load_shared _\n", AGXC_STAGE_GENERIC, "source 0 is nothing"},
      {"%0:32 = shuffle #1:32, #1:32, 6\n", AGXC_STAGE_GENERIC, "shuffle 6"},
      {"%0:32 = element #1:32, #0:32\n", AGXC_STAGE_GENERIC, "a stride that is no number above 0"},
      {"%0:32 = sysval 32\n", AGXC_STAGE_GENERIC, "sysval 32"},
      {"agx.wait group=2\n", AGXC_STAGE_MACHINE, "group 2"},
      {"%0:1 = ieq #1:32, #2:32\nbranch %0:1\nif\n%1:32 = mov #1:32\nelse\nend\n"
       "%2:32 = iadd %1:32, #1:32\n",
       AGXC_STAGE_GENERIC, "value 1 is not defined on every way here"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct context c;
      begin(&c);
      struct agxc_shader *shader = parse(&c, cases[i].body);
      assert_fails(agxc_validate(shader, cases[i].stage), AGX_INTERNAL, cases[i].message);
      agx_arena_fini(&c.arena);
   }
}

/* ---- builders and accessors ------------------------------------------- */

static void builders_make_what_the_table_says(void **state)
{
   struct context c;
   begin(&c);
   struct agxc_shader *shader = parse(&c, "");
   struct agxc_builder b = agxc_at_end(shader, agxc_last_block(&shader->body));
   struct agxc_ref id = agxc_build_sysval(&b, AGXC_SYSVAL_LOCAL_INDEX);
   struct agxc_ref least = agxc_build_umin(&b, id, agxc_imm(7, 32));
   struct agxc_ref data = agxc_build_load_buffer(&b, 16, 2, least, 1, AGXC_ACCESS_CONST);
   struct agxc_ref wide = agxc_build_pack64(&b, id, least);
   struct agxc_instr *words = agxc_build_unpack64(&b, wide);
   struct agxc_instr *store =
      agxc_build_store_buffer(&b, *agxc_dest_high(words), data, 0, AGXC_ACCESS_COHERENT);
   agxc_build_branch(&b, agxc_build_ult(&b, id, least));
   const struct agxc_instr *load = data.value->def;
   assert_ptr_equal(agxc_src_a(least.value->def), &least.value->def->operand[1]);
   assert_ptr_equal(agxc_side(least.value->def, 1), agxc_src_b(least.value->def));
   assert_ptr_equal(agxc_src_offset(load)->value, least.value);
   assert_int_equal(agxc_imm_binding(load), 1);
   assert_int_equal(agxc_imm_access(load), AGXC_ACCESS_CONST);
   assert_false(agxc_has_src(load, AGXC_SRC_DATA));
   *agxc_src_offset(store) = agxc_imm(4, 32);
   agxc_set_imm_access(store, AGXC_ACCESS_RESTRICT);
   assert_string_equal(agxc_print(shader, &c.arena),
                       HEADER "%0:32 = sysval local_index\n"
                              "%1:32 = umin %0:32, #7:32\n"
                              "%2:16x2 = load_buffer %1:32, binding=1, access=const\n"
                              "%3:64 = pack64 %0:32, %1:32\n"
                              "%4:32, %5:32 = unpack64 %3:64\n"
                              "store_buffer #4:32, %2:16x2, binding=0, access=restrict\n"
                              "%6:1 = ult %0:32, %1:32\n"
                              "branch %6:1\n");
   agx_arena_fini(&c.arena);
}

static void rows_name_their_operands(void **state)
{
   struct context c;
   begin(&c);
   struct agxc_shader *shader = parse(&c, "%0:32 = agx.mfsr sr=thread_in_grid_x\n"
                                          "agx.lstore %0:32, _, #0:16, format=i32, mask=x\n");
   const struct agxc_instr *mfsr = shader->values[0]->def;
   assert_int_equal(agxc_machine_sr(mfsr)->imm, 0x50);
   struct agxc_instr *store = agx_container_of(mfsr->link.next, struct agxc_instr, link);
   assert_true(agxc_opcode_has(AGX_ISA_OP_LSTORE, AGXC_MACHINE_FORMAT));
   assert_false(agxc_opcode_has(AGX_ISA_OP_LSTORE, AGXC_MACHINE_SR));
   agxc_set_machine_mask(store, 3);
   assert_int_equal(agxc_machine_mask(store)->imm, 3);
   agx_arena_fini(&c.arena);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_stage_of_the_corpus_reads_back),
      cmocka_unit_test(what_is_wrong_in_text_is_named),
      cmocka_unit_test(broken_rules_are_found),
      cmocka_unit_test(builders_make_what_the_table_says),
      cmocka_unit_test(rows_name_their_operands),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
