/* SPDX-License-Identifier: MIT
 *
 * Every recorded row, through the door that is linked in. The preloaded one starts
 * itself again with the library in front.
 */
#include <stdlib.h>

#include "rows/rows.h"
#include "sanitized.h"

static int read_tables(void **state)
{
   rows_read("syncobj.tsv");
   rows_read("gem.tsv");
   return 0;
}

/* The letters of rows that only the process that holds the GPU can have. */
static void stand_aside(void)
{
   static const char *const pending[] = {
      "P0",  "P1",   "P2",  "P3",  "P4",  "P4b", "P5",  "P6",  "P7",  "P8",   "P9",
      "P10", "P11",  "P12", "P13", "P14", "P15", "P16", "P17", "P18", "P18b", "P19",
      "P20", "P20b", "P21", "P22", "P23", "P24", "P25", "P26", "P27", "P28",  "P29"};
   for (unsigned i = 0; door_is_preloaded && i < AGX_COUNT(pending); i++)
      rows_aside(pending[i], "needs a machine that holds submissions; the run in process has it");
}

static void every_row_had_its_turn(void **state)
{
   stand_aside();
   rows_finish();
}

#define ROWS(name) cmocka_unit_test_setup_teardown(name, rows_set_up, rows_tear_down)

int main(int argc, char **argv)
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
      ROWS(rows_of_buffers),
      ROWS(rows_of_mappings),
      ROWS(rows_of_dma_bufs),
      ROWS(rows_of_buffers_and_forks),
#ifndef ROWS_PRELOADED
      ROWS(rows_of_pending_fences),
      ROWS(rows_of_pending_points),
#endif
      cmocka_unit_test(every_row_had_its_turn),
   };
   if (door_is_preloaded && SANITIZED)
      return 77; /* the sanitizer's runtime wants to be the first library */
   door_preload(argv);
   return cmocka_run_group_tests(tests, read_tables, NULL);
}
