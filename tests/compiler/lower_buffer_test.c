/* SPDX-License-Identifier: MIT
 *
 * Bindings to addresses, constants of the dispatch to uniforms.
 */
#include "agx/compiler/lower/lower.h"
#include "uniform_support.h"

#define X   "%0:32 = load_shared #0:32\n"
#define OUT "store_shared #0:32, "

static void check(const char *local, const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){
      .pass = agxc_lower_buffer, .local = local, .before = before, .after = after});
}

#define PLAIN(before, after) check(NULL, before, after)

static void bindings_are_addresses(void **state)
{
   PLAIN(X "%1:32 = load_buffer %0:32, #0:64, #5:64\n" OUT "%1:32\n",
         X "%1:32 = load_global u0l:64, %0:32, #5:64\n" OUT "%1:32\n");
   PLAIN(X "store_buffer %0:32, #1:32, #1:64, #1:64\n",
         X "store_global u2l:64, %0:32, #1:32, #1:64\n");
   PLAIN(X "%1:32 = atomic_buffer %0:32, #1:32, _, #1:64, #2:64\n" OUT "%1:32\n",
         X "%1:32 = atomic_global u2l:64, %0:32, #1:32, _, #2:64\n" OUT "%1:32\n");
   PLAIN("%1:64 = buffer_address #1:64\n%2:32 = load_global %1:64, #0:32, #0:64\n" OUT "%2:32\n",
         "%2:32 = load_global u2l:64, #0:32, #0:64\n" OUT "%2:32\n");
}

static void what_the_dispatch_says_is_uniform(void **state)
{
   PLAIN("%0:32 = load_push #4:64\n" OUT "%0:32\n", OUT "u5l:32\n");
   PLAIN("%0:16 = load_push #6:64\n" OUT "%0:16\n", OUT "u5h:16\n");
   PLAIN("%0:32x2 = load_push #8:64\n" OUT "%0:32x2\n",
         "%0:32x2 = collect u6l:32, u7l:32\n" OUT "%0:32x2\n");
   PLAIN("%0:32 = buffer_size #1:64\n" OUT "%0:32\n", OUT "u8l:32\n");
   PLAIN("%0:32 = sysval #10:64\n" OUT "%0:32\n", OUT "u8l:32\n");
}

/* Positions where the workgroup has but one. */
static void its_local_size_settles_positions(void **state)
{
   const char *text = "%0:32 = sysval #4:64\n%1:32 = sysval #0xe:64\n%2:32 = sysval #0xc:64\n" OUT
                      "%0:32\n" OUT "%1:32\n" OUT "%2:32\n";
   check("32x2x1", text, text);
   check("32x1x1", text, "%2:32 = sysval #0xc:64\n" OUT "#0:32\n" OUT "#0:32\n" OUT "%2:32\n");
   check("1x1x1", text, OUT "#0:32\n" OUT "#0:32\n" OUT "#0:32\n");
}

static void addresses_of_neighbours_are_one_uniform(void **state)
{
   PLAIN("%0:64 = pack64 u4l:32, u5l:32\n%1:32 = load_global %0:64, #0:32, #0:64\n" OUT "%1:32\n",
         "%0:64 = pack64 u4l:32, u5l:32\n%1:32 = load_global u4l:64, #0:32, #0:64\n" OUT "%1:32\n");
   const char *text =
      "%0:64 = pack64 u4l:32, u6l:32\n%1:32 = load_global %0:64, #0:32, #0:64\n" OUT "%1:32\n";
   PLAIN(text, text);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(bindings_are_addresses),
      cmocka_unit_test(what_the_dispatch_says_is_uniform),
      cmocka_unit_test(its_local_size_settles_positions),
      cmocka_unit_test(addresses_of_neighbours_are_one_uniform),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
