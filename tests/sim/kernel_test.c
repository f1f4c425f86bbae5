/* SPDX-License-Identifier: MIT
 *
 * Decoding a kernel: which instructions are found from its entry, and when it is still the code
 * that memory holds.
 */
#include "sim_memory.h"

#include <string.h>

#include "agx/sim/machine/kernel.h"
#include "base/util.h"

static const struct agxs_uop *do_nothing(struct agxs_group *group, const struct agxs_uop *uop)
{
   return uop + 1;
}

static struct agxs_exec_set make_set(void)
{
   struct agxs_exec_set set = {.name = "nothing"};
   for (unsigned i = 0; i < AGXS_X_COUNT; i++)
      set.exec[i] = do_nothing;
   return set;
}

static void decodes_what_the_entry_leads_to(void **state)
{
   const struct agxs_exec_set set = make_set();
   struct agxs_kernel_request request = {
      .usc_base = SIM_USC_BASE, .entry = SIM_CODE, .halves = 256, .uniform_halves = 512};
   struct sim_memory memory;
   struct agxs_tlb tlb = {0};
   struct agxs_kernel *kernel;
   char text[200];
   sim_memory_init(&memory);
   uint8_t *code = sim_map(&memory, SIM_USC_BASE + SIM_CODE, AGX_PAGE_BYTES, false);
   size_t first = sim_assemble("iadd d=r0 a=r1 b=r2", code, 64);
   sim_assemble("iadd d=r0 a=r1 b=r2; stop; iadd d=r3 a=r4 b=r5", code, 64);
   agxs_tlb_init(&tlb, &memory.interface);
   assert_ok(agxs_kernel_create(&tlb, &request, &set, &kernel));
   const struct agxs_uop *add = agxs_kernel_find(kernel, SIM_CODE);
   const struct agxs_uop *stop = agxs_kernel_find(kernel, SIM_CODE + (uint32_t)first);
   assert_ptr_equal(add, kernel->uops);
   assert_ptr_equal(stop, add + 1);
   assert_int_equal(add->exec_index, AGXS_X_iadd);
   assert_int_equal(stop->exec_index, AGXS_X_stop);
   assert_int_equal(kernel->uop_count, 2); /* nothing leads behind the stop */
   assert_null(agxs_kernel_find(kernel, SIM_CODE + 2));
   agxs_kernel_text(kernel, add, text, sizeof(text));
   assert_non_null(strstr(text, "iadd"));
   assert_true(agxs_kernel_matches(kernel, &tlb, &request));
   code[0] ^= 0x80;
   assert_false(agxs_kernel_matches(kernel, &tlb, &request));
   code[0] ^= 0x80;
   request.halves = 8;
   assert_false(agxs_kernel_matches(kernel, &tlb, &request));
   agxs_kernel_destroy(kernel);
   sim_memory_fini(&memory);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(decodes_what_the_entry_leads_to)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
