/* SPDX-License-Identifier: MIT
 *
 * Rows M: what outlives its file, and objects in number.
 */
#include "rows/rows.h"

void rows_of_many(void **state)
{
   uint32_t s = create(0), after = 0, last = 0;
   int fd, count = 0;
   signal_at(s, 1);
   assert_int_equal(to_fd(s, 0, 0, &fd), 0);
   struct door_file *gone = file;
   file = door_open();
   door_close(gone);
   ROW("M1", from_fd(fd, 0, 0, &after), "handle=%u query=%llu", after, value_of(after));
   close(fd);
   for (; count < 20000; count++)
      last = create(0);
   ROW("M2", 0, "n=%d last=%u", count, last);
}
