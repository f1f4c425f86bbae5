/* SPDX-License-Identifier: MIT
 *
 * The geometry of cube maps.
 */
#include "support.h"

#include "agx/sim/image/image.h"

/* A direction along an axis meets the middle of that axis's face. */
static void axes_meet_their_faces(void **state)
{
   for (unsigned face = 0; face < 6; face++) {
      double at[3] = {0}, out[2];
      at[face / 2] = face & 1 ? -2 : 2;
      assert_int_equal(agxs_cube_face(at), face);
      agxs_cube_to_face(at, face, out);
      assert_true(out[0] == 0.5 && out[1] == 0.5);
   }
}

/* Beyond the edge of a face lies another one, and inside of an edge nothing changes. */
static void edges_lead_to_other_faces(void **state)
{
   const int64_t size = 8;
   for (unsigned face = 0; face < 6; face++) {
      for (unsigned edge = 0; edge < 4; edge++) {
         unsigned to = face;
         int64_t texel[2] = {3, 3};
         texel[edge / 2] = edge & 1 ? size : -1;
         agxs_cube_cross_edge(size, &to, texel);
         assert_true(to < 6 && to != face && to / 2 != face / 2);
         assert_true(texel[0] >= 0 && texel[0] < size && texel[1] >= 0 && texel[1] < size);
      }
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(axes_meet_their_faces),
      cmocka_unit_test(edges_lead_to_other_faces),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
