/* SPDX-License-Identifier: MIT
 *
 * Fuzzes replays: the input is a capture, whose requests are made on a virtual AGX that executes
 * nothing. Nothing may crash or wait for ever.
 */
#include <stdlib.h>

#include "agxdump/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sizes that a capture names may be more than the sanitizer gives. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
   return "allocator_may_return_null=1";
}

static void set_environment(void)
{
   static bool is_set;
   if (!is_set)
      setenv("AGX_VIRTUAL_EXECUTE", "0", 1);
   is_set = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
   const struct replay_options options = {
      .device = "virtual:g13g", .repeat = 1, .is_impatient = true};
   struct replay replay = {.file = "input"};
   struct agxw_capture_record record;
   bool more;
   set_environment();
   if (agxw_capture_open_memory(NULL, data, size, &replay.reader) != AGX_OK)
      return 0;
   agx_status status = agxw_capture_next(replay.reader, &record, &more);
   replay.begin = record.file_offset;
   if (status == AGX_OK && more)
      status = replay_again(&replay, &options, NULL);
   if (status != AGX_OK && !agx_error_peek()[0])
      abort();
   agxw_capture_close(replay.reader);
   return 0;
}
