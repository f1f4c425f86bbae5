/* SPDX-License-Identifier: MIT
 *
 * The open questions, from their table.
 */
#include "base/util.h"
#include "selftest.h"

#define QUESTION(name, asked, none) {name, asked, none},
const struct selftest_question selftest_questions[] = {
#include "questions.def"
};
const uint32_t selftest_question_count = AGX_COUNT(selftest_questions);
