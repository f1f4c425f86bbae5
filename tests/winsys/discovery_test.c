/* SPDX-License-Identifier: MIT
 *
 * Discovery against whatever the machine that runs the tests has; what it says must
 * hang together. Nodes of this driver's own are tested over the preload library.
 */
#include "support.h"

#include <string.h>

#include "winsys/device_impl.h"

static void nodes_come_with_a_verdict(void **state)
{
   static struct agxw_node_info nodes[AGXW_MAX_NODES];
   uint32_t count = 99;
   assert_ok(agxw_enumerate(nodes, &count));
   assert_true(count <= AGXW_MAX_NODES);
   for (uint32_t i = 0; i < count; i++) {
      assert_true(strncmp(nodes[i].path, "/dev/dri/", 9) == 0);
      assert_int_equal(nodes[i].reason[0] == 0, nodes[i].status == AGX_OK);
   }
}

static void files_that_are_no_node_are_refused(void **state)
{
   struct agx_kmd *kmd;
   assert_fails(agx_kmd_drm_open("/dev/null", &kmd), AGX_INCOMPATIBLE,
                "/dev/null: not a DRM device");
   assert_null(kmd);
   assert_fails(agxw_kmd_open("/dev/dri/renderD999", NULL, &kmd), AGX_NOT_FOUND,
                "/dev/dri/renderD999: can't be opened");
   assert_null(kmd);
}

static void device_names_are_checked(void **state)
{
   struct agx_kmd *kmd;
   assert_fails(agxw_kmd_open("gpu", NULL, &kmd), AGX_INVALID_ARGUMENT,
                "device \"gpu\": auto, drm, virtual");
   assert_fails(agxw_kmd_open("", NULL, &kmd), AGX_INVALID_ARGUMENT, "auto");
   assert_null(kmd);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_come_with_a_verdict),
      cmocka_unit_test(files_that_are_no_node_are_refused),
      cmocka_unit_test(device_names_are_checked),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
