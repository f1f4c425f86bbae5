/* SPDX-License-Identifier: MIT
 *
 * The text of the last error: what it names, and how it is cut.
 */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "base/status.h"

static void text_names_object_and_value(void **state)
{
   assert_int_equal(AGX_FAIL(AGX_OUT_OF_RANGE, "%s: align %u", "heap", 3u), AGX_OUT_OF_RANGE);
   assert_string_equal(agx_error_peek(), "heap: align 3");
   agx_error_prefix("device %d", 7);
   assert_string_equal(agx_error_peek(), "device 7: heap: align 3");
}

static void text_is_cut_to_the_caller_s_buffer(void **state)
{
   (void)!AGX_FAIL(AGX_UNKNOWN, "abcdef");
   char text[4] = "zzz";
   assert_int_equal(agx_error_text(text, sizeof(text)), 6);
   assert_string_equal(text, "abc");
   assert_int_equal(agx_error_text(NULL, 0), 6);
}

static void long_text_stays_terminated(void **state)
{
   char word[2000];
   memset(word, 'x', sizeof(word) - 1);
   word[sizeof(word) - 1] = 0;
   (void)!AGX_FAIL(AGX_UNKNOWN, "%s", word);
   size_t length = agx_error_text(NULL, 0);
   assert_in_range(length, 100, 1999);
   agx_error_prefix("%s", word);
   assert_int_equal(agx_error_text(NULL, 0), length);
}

static void errno_becomes_a_code(void **state)
{
   assert_int_equal(agx_status_fail_errno(-ENOMEM, "bo"), AGX_RESOURCE_EXHAUSTED);
   assert_non_null(strstr(agx_error_peek(), "bo: "));
   assert_int_equal(agx_status_fail_errno(ETIME, "wait"), AGX_DEADLINE_EXCEEDED);
   /* No deadline of the caller's: a loop that polls would go on for ever. */
   assert_int_equal(agx_status_fail_errno(ETIMEDOUT, "read"), AGX_UNAVAILABLE);
   assert_int_equal(agx_status_fail_errno(EL2HLT, "nothing"), AGX_UNKNOWN);
}

/* What opening, writing and mapping files, and requests to a kernel, fail with. */
static void what_files_and_kernels_say_has_a_code(void **state)
{
   static const struct {
      int error;
      agx_status code;
   } rows[] = {
      {EISDIR, AGX_INVALID_ARGUMENT},
      {ENOTDIR, AGX_INVALID_ARGUMENT},
      {ELOOP, AGX_INVALID_ARGUMENT},
      {ENAMETOOLONG, AGX_INVALID_ARGUMENT},
      {ENOENT, AGX_NOT_FOUND},
      {EROFS, AGX_PERMISSION_DENIED},
      {EACCES, AGX_PERMISSION_DENIED},
      {EDQUOT, AGX_RESOURCE_EXHAUSTED},
      {ENOSPC, AGX_RESOURCE_EXHAUSTED},
      {EMFILE, AGX_RESOURCE_EXHAUSTED},
      {ENFILE, AGX_RESOURCE_EXHAUSTED},
      {ENOLCK, AGX_RESOURCE_EXHAUSTED},
      {EFBIG, AGX_OUT_OF_RANGE},
      {EOVERFLOW, AGX_OUT_OF_RANGE},
      {ETXTBSY, AGX_FAILED_PRECONDITION},
      {EBUSY, AGX_FAILED_PRECONDITION},
      {EPIPE, AGX_FAILED_PRECONDITION},
      {ENODEV, AGX_UNAVAILABLE},
      {ENXIO, AGX_UNAVAILABLE},
      {EIO, AGX_UNAVAILABLE},
      {EAGAIN, AGX_UNAVAILABLE},
      {EINTR, AGX_UNAVAILABLE},
      {ESTALE, AGX_ABORTED},
      {EUCLEAN, AGX_DATA_LOSS},
      {EXDEV, AGX_UNIMPLEMENTED},
      {ENOSYS, AGX_UNIMPLEMENTED},
   };
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
      assert_int_equal(agx_status_fail_errno(rows[i].error, "it"), rows[i].code);
}

static void every_code_has_a_name(void **state)
{
   for (agx_status code = AGX_OK; code <= AGX_INCOMPATIBLE; code++)
      assert_string_not_equal(agx_status_name(code), "?");
   assert_string_equal(agx_status_name(-1), "?");
   assert_string_equal(agx_status_name(19), "?");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_names_object_and_value),
      cmocka_unit_test(text_is_cut_to_the_caller_s_buffer),
      cmocka_unit_test(long_text_stays_terminated),
      cmocka_unit_test(errno_becomes_a_code),
      cmocka_unit_test(what_files_and_kernels_say_has_a_code),
      cmocka_unit_test(every_code_has_a_name),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
