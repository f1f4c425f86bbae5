/* SPDX-License-Identifier: MIT
 *
 * The open questions, from their table.
 */
#include <string.h>

#include "base/util.h"
#include "selftest.h"

#define QUESTION(name, asked, none) {name, asked, none},
const struct selftest_question selftest_questions[] = {
#include "questions.def"
};
const uint32_t selftest_question_count = AGX_COUNT(selftest_questions);

bool selftest_asks(const struct selftest_experiment *experiment, const char *id)
{
   const char *ids = experiment->ids;
   const size_t length = strlen(id);
   for (const char *at = ids; length && (at = strstr(at, id)); at += length)
      if ((at == ids || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
         return true;
   return false;
}
