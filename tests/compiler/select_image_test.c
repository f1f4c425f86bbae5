/* SPDX-License-Identifier: MIT
 *
 * Texel reads and writes as rows: where the level stands, and which sampler is taken.
 */
#include "agx/compiler/select/select.h"
#include "pass_support.h"

#define PASSES agxc_select

static void fetches_have_a_sampler_of_their_own(void **state)
{
   CASE("%0:32x2 = load_shared #0:32\n"
        "%1:32x4 = image_fetch %0:32x2, #0:16, _, _, _, #0:64, #2:64, #0:64\n"
        "store_shared #0:32, %1:32x4\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%1:32x4 = agx.smpi _, #0:32, #0:32, %0:32x2, u0l:16, _, #0:64, #0:64, #0:64, #0:64, "
        "#0:64, #0:64, #2:64, #0xf:64, #2:64, #0:64, #0:64\n"
        "agx.lstore %1:32x4, _, #0:16, #2:64, #0xf:64\n",
        PASSES);
   /* What is written in the dispatch is read past the cache. */
   CASE("%0:32x2 = load_shared #0:32\n"
        "%1:32x4 = image_load %0:32x2, #0:16, _, _, _, #0:64, #2:64, #0:64\n"
        "store_shared #0:32, %1:32x4\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%1:32x4 = agx.smpi _, #0:32, #0:32, %0:32x2, u0l:16, _, #0:64, #0:64, #1:64, #0:64, "
        "#0:64, #0:64, #2:64, #0xf:64, #2:64, #0:64, #0:64\n"
        "agx.lstore %1:32x4, _, #0:16, #2:64, #0xf:64\n",
        PASSES);
}

static void levels_are_uniforms_or_halves(void **state)
{
   CASE("%0:32x2 = load_shared #0:32\n"
        "%2:16 = trunc u4l:32\n"
        "%1:32x4 = image_fetch %0:32x2, %2:16, _, _, _, #0:64, #2:64, #0:64\n"
        "store_shared #0:32, %1:32x4\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%1:32x4 = agx.smpi _, #0:32, #0:32, %0:32x2, u4l:16, _, #0:64, #0:64, #0:64, #0:64, "
        "#0:64, #0:64, #2:64, #0xf:64, #2:64, #0:64, #0:64\n"
        "agx.lstore %1:32x4, _, #0:16, #2:64, #0xf:64\n",
        PASSES);
   /* Beyond the first 256 halves none can be named. */
   CASE("%0:32x2 = load_shared #0:32\n"
        "%2:16 = trunc u130l:32\n"
        "%1:32x4 = image_fetch %0:32x2, %2:16, _, _, _, #0:64, #2:64, #0:64\n"
        "store_shared #0:32, %1:32x4\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%3:16 = agx.mov u130l:16\n"
        "%1:32x4 = agx.smpi _, #0:32, #0:32, %0:32x2, %3:16, _, #0:64, #0:64, #0:64, #0:64, #0:64, "
        "#0:64, #2:64, #0xf:64, #6:64, #0:64, #0:64\n"
        "agx.lstore %1:32x4, _, #0:16, #2:64, #0xf:64\n",
        PASSES);
   /* A level that lanes compute, and none. */
   CASE("%0:32x2 = load_shared #0:32\n"
        "%3:32 = load_shared #8:32\n"
        "%2:16 = trunc %3:32\n"
        "%1:32x4 = image_fetch %0:32x2, %2:16, _, _, _, #0:64, #2:64, #0:64\n"
        "store_shared #0:32, %1:32x4\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%3:32 = agx.lload _, #2:16, #2:64, #1:64\n"
        "%2:16 = agx.mov %3:32\n"
        "%1:32x4 = agx.smpi _, #0:32, #0:32, %0:32x2, %2:16, _, #0:64, #0:64, #0:64, #0:64, #0:64, "
        "#0:64, #2:64, #0xf:64, #6:64, #0:64, #0:64\n"
        "agx.lstore %1:32x4, _, #0:16, #2:64, #0xf:64\n",
        PASSES);
   CASE("%0:32x2 = load_shared #0:32\n"
        "%1:32x4 = image_fetch %0:32x2, _, _, _, _, #0:64, #2:64, #0:64\n"
        "store_shared #0:32, %1:32x4\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%1:32x4 = agx.smpi _, #0:32, #0:32, %0:32x2, _, _, #0:64, #0:64, #0:64, #0:64, #0:64, "
        "#0:64, #2:64, #0xf:64, #0:64, #0:64, #0:64\n"
        "agx.lstore %1:32x4, _, #0:16, #2:64, #0xf:64\n",
        PASSES);
}

static void samples_name_their_sampler(void **state)
{
   CASE("%0:32x2 = load_shared #0:32\n"
        "%1:32x4 = image_sample %0:32x2, #0:16, _, _, _, _, #0:64, #2:64, #1:64, #0:64, #0:64, "
        "#0:64\n"
        "store_shared #0:32, %1:32x4\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%1:32x4 = agx.smpf _, #0:32, #0:32, %0:32x2, u0l:16, _, #0:64, #0:64, #0:64, #0:64, "
        "#0:64, #0:64, #2:64, #0xf:64, #2:64, #0:64, #0:64\n"
        "agx.lstore %1:32x4, _, #0:16, #2:64, #0xf:64\n",
        PASSES);
   /* Four texels of channel 2, one texel on. */
   CASE("%0:32x2 = load_shared #0:32\n"
        "%1:32x4 = image_sample %0:32x2, #0:16, #1:16, _, _, _, #0:64, #2:64, #1:64, #3:64, #0:64, "
        "#0:64\n"
        "store_shared #0:32, %1:32x4\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%2:16 = agx.ldimm16 #1:64\n"
        "%1:32x4 = agx.smpf _, #0:32, #0:32, %0:32x2, u0l:16, %2:16, #0:64, #0:64, #0:64, #0:64, "
        "#0:64, #0:64, #2:64, #0xf:64, #2:64, #5:64, #0:64\n"
        "agx.lstore %1:32x4, _, #0:16, #2:64, #0xf:64\n",
        PASSES);
}

static void stores_are_of_images(void **state)
{
   CASE("%0:32x2 = load_shared #0:32\n"
        "%1:32x4 = load_shared #8:32\n"
        "image_store %0:32x2, %1:32x4, _, _, #1:64, #2:64, #0:64\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%1:32x4 = agx.lload _, #2:16, #2:64, #0xf:64\n"
        "agx.imgw %1:32x4, _, #0:32, %0:32x2, #0:16, #2:64, #0:64, #0:64\n",
        PASSES);
   /* Not for the texture that reads the same binding. */
   CASE("%0:32x2 = load_shared #0:32\n"
        "%1:32x4 = image_load %0:32x2, #0:16, _, _, _, #1:64, #2:64, #0:64\n"
        "image_store %0:32x2, %1:32x4, _, _, #1:64, #2:64, #0:64\n",
        "%0:32x2 = agx.lload _, #0:16, #2:64, #3:64\n"
        "%1:32x4 = agx.smpi _, #0:32, #0:32, %0:32x2, u0l:16, _, #0:64, #0:64, #1:64, #0:64, "
        "#0:64, #0:64, #2:64, #0xf:64, #2:64, #0:64, #0:64\n"
        "agx.imgw %1:32x4, _, #1:32, %0:32x2, #0:16, #2:64, #0:64, #0:64\n",
        PASSES);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(fetches_have_a_sampler_of_their_own),
      cmocka_unit_test(levels_are_uniforms_or_halves),
      cmocka_unit_test(samples_name_their_sampler),
      cmocka_unit_test(stores_are_of_images),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
