/* SPDX-License-Identifier: MIT
 *
 * Every recorded row, through the door that is linked in. The preloaded one starts
 * itself again with the library in front.
 */
#include <stdlib.h>

#include "rows/rows.h"

static int read_tables(void **state)
{
   rows_read("syncobj.tsv");
   rows_read("gem.tsv");
   rows_read("file.tsv");
   rows_adapt();
   return 0;
}

static void every_row_had_its_turn(void **state)
{
   rows_finish();
}

#define ROWS(name)        cmocka_unit_test_setup_teardown(name, rows_set_up, rows_tear_down)
#define BUFFER_ROWS(name) cmocka_unit_test_setup_teardown(name, rows_set_up_buffers, rows_tear_down)

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      ROWS(rows_of_node),
      ROWS(rows_of_binaries),
      ROWS(rows_of_waits),
      ROWS(rows_of_timelines),
      ROWS(rows_of_timeline_arguments),
      ROWS(rows_of_transfers),
      ROWS(rows_of_descriptors),
      ROWS(rows_of_sync_files),
      ROWS(rows_of_eventfds),
      ROWS(rows_of_many),
      BUFFER_ROWS(rows_of_buffers),
      BUFFER_ROWS(rows_of_mappings),
      BUFFER_ROWS(rows_of_dma_bufs),
      BUFFER_ROWS(rows_of_buffers_and_forks),
      ROWS(rows_of_pending_fences),
      ROWS(rows_of_pending_points),
      ROWS(rows_of_file_flags),
      ROWS(rows_of_point_files),
      ROWS(rows_of_forgotten_points),
      ROWS(rows_of_merged_files),
      ROWS(rows_of_late_eventfds),
      cmocka_unit_test(every_row_had_its_turn),
   };
   door_preload("rows");
   return cmocka_run_group_tests(tests, read_tables, NULL);
}
