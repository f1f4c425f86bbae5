/* SPDX-License-Identifier: MIT
 *
 * What robust accesses become; u0 and u2 are the addresses of the bindings 0 and 1, new uniforms
 * begin at u8.
 */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/lower/lower.h"
#include "uniform_support.h"

#define X   "%0:32 = load_shared #0:32\n"
#define OUT "store_shared #0:32, "

static void check(enum agxc_robustness robustness, const char *before, const char *after)
{
   uniform_check(&(struct uniform_case){
      .pass = agxc_lower_robust, .robustness = robustness, .before = before, .after = after});
}

#define CLAMP(before, after) check(AGXC_ROBUST_CLAMP, before, after)
#define ZERO(before, after)  check(AGXC_ROBUST_ZERO, before, after)

static void nothing_is_checked_when_off(void **state)
{
   check(AGXC_ROBUST_NONE, X "%1:32 = load_global u0l:64, %0:32, #0:64\n" OUT "%1:32\n", NULL);
}

/* An address is the application's affair, robust or not. */
static void addresses_are_not_checked(void **state)
{
   CLAMP(X "%1:64 = pack64 %0:32, %0:32\n%2:32 = load_global %1:64, %0:32, #0:64\n" OUT "%2:32\n",
         X "%1:64 = pack64 %0:32, %0:32\n%2:32 = load_global %1:64, %0:32, #0:64\n" OUT "%2:32\n");
}

/* Eight elements from 8 i on have one index; from any other index on they may wrap. */
static void constants_leave_aligned_indices(void **state)
{
   uniform_check(&(struct uniform_case){
      .pass = agxc_opt_algebraic,
      .before = X "%1:32 = ishl %0:32, #3:32\n%2:32 = iadd %1:32, #7:32\n"
                  "%3:32 = element %2:32, #4:32\n" OUT "%3:32\n",
      .after = X "%1:32 = ishl %0:32, #3:32\n%2:32 = iadd %1:32, #7:32\n"
                 "%4:32 = element %1:32, #4:32\n%3:32 = iadd %4:32, #0x1c:32\n" OUT "%3:32\n",
   });
   uniform_check(&(struct uniform_case){
      .pass = agxc_opt_algebraic,
      .before = X "%1:32 = ishl %0:32, #3:32\n%2:32 = iadd %1:32, #8:32\n"
                  "%3:32 = element %2:32, #4:32\n" OUT "%3:32\n",
   });
}

/* An array of nine dimensions: an offset of more terms than an access usually has. */
static void many_strides_are_one_index(void **state)
{
   CLAMP(X "%1:32 = element %0:32, #0x4:32\n"
           "%2:32 = element %0:32, #0x8:32\n"
           "%3:32 = element %0:32, #0x10:32\n"
           "%4:32 = element %0:32, #0x20:32\n"
           "%5:32 = element %0:32, #0x40:32\n"
           "%6:32 = element %0:32, #0x80:32\n"
           "%7:32 = element %0:32, #0x100:32\n"
           "%8:32 = element %0:32, #0x200:32\n"
           "%9:32 = element %0:32, #0x400:32\n"
           "%10:32 = iadd %1:32, %2:32\n"
           "%11:32 = iadd %10:32, %3:32\n"
           "%12:32 = iadd %11:32, %4:32\n"
           "%13:32 = iadd %12:32, %5:32\n"
           "%14:32 = iadd %13:32, %6:32\n"
           "%15:32 = iadd %14:32, %7:32\n"
           "%16:32 = iadd %15:32, %8:32\n"
           "%17:32 = iadd %16:32, %9:32\n"
           "%18:32 = load_global u0l:64, %17:32, #0:64\n" OUT "%18:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = ishl %0:32, #2:32\n"
         "%2:32 = ishl %0:32, #3:32\n"
         "%3:32 = ishl %0:32, #4:32\n"
         "%4:32 = ishl %0:32, #5:32\n"
         "%5:32 = ishl %0:32, #6:32\n"
         "%6:32 = ishl %0:32, #7:32\n"
         "%7:32 = ishl %0:32, #8:32\n"
         "%8:32 = ishl %0:32, #9:32\n"
         "%9:32 = ishl %0:32, #0xa:32\n"
         "%10:32 = iadd %1:32, %2:32\n"
         "%11:32 = iadd %10:32, %3:32\n"
         "%12:32 = iadd %11:32, %4:32\n"
         "%13:32 = iadd %12:32, %5:32\n"
         "%14:32 = iadd %13:32, %6:32\n"
         "%15:32 = iadd %14:32, %7:32\n"
         "%16:32 = iadd %15:32, %8:32\n"
         "%17:32 = iadd %16:32, %9:32\n"
         "%19:32 = ishl %0:32, #1:32\n"
         "%20:32 = iadd %0:32, %19:32\n"
         "%21:32 = ishl %0:32, #2:32\n"
         "%22:32 = iadd %20:32, %21:32\n"
         "%23:32 = ishl %0:32, #3:32\n"
         "%24:32 = iadd %22:32, %23:32\n"
         "%25:32 = ishl %0:32, #4:32\n"
         "%26:32 = iadd %24:32, %25:32\n"
         "%27:32 = ishl %0:32, #5:32\n"
         "%28:32 = iadd %26:32, %27:32\n"
         "%29:32 = ishl %0:32, #6:32\n"
         "%30:32 = iadd %28:32, %29:32\n"
         "%31:32 = ishl %0:32, #7:32\n"
         "%32:32 = iadd %30:32, %31:32\n"
         "%33:32 = ishl %0:32, #8:32\n"
         "%34:32 = iadd %32:32, %33:32\n"
         "%35:32 = umin %34:32, u8l:32\n"
         "%36:32 = ishl %35:32, #2:32\n"
         "%18:32 = load_global u9l:64, %36:32, #0:64\n"
         "store_shared #0:32, %18:32\n");
}

/* An index is compared as it is, before it is multiplied. */
static void one_umin_clamps(void **state)
{
   CLAMP(X "%1:32 = element %0:32, #4:32\n"
           "%2:32 = load_global u0l:64, %1:32, #0:64\n" OUT "%2:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = ishl %0:32, #2:32\n"
         "%3:32 = umin %0:32, u8l:32\n"
         "%4:32 = ishl %3:32, #2:32\n"
         "%2:32 = load_global u9l:64, %4:32, #0:64\n"
         "store_shared #0:32, %2:32\n");
   CLAMP(X "%1:32 = element %0:32, #0xc:32\n"
           "%2:32 = iadd %1:32, #8:32\n"
           "store_global u2l:64, %2:32, %0:32, #0:64\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = imul %0:32, #0xc:32\n"
         "%2:32 = iadd %1:32, #8:32\n"
         "%3:32 = umin %0:32, u8l:32\n"
         "%4:32 = imul %3:32, #3:32\n"
         "%5:32 = ishl %4:32, #2:32\n"
         "store_global u9l:64, %5:32, %0:32, #0:64\n");
   CLAMP(X "%1:32 = element %0:32, #0x10:32\n"
           "%2:32x4 = load_global u0l:64, %1:32, #0:64\n"
           "%3:32, %4:32, %5:32, %6:32 = split %2:32x4\n" OUT "%6:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = ishl %0:32, #4:32\n"
         "%7:32 = umin %0:32, u8l:32\n"
         "%8:32 = ishl %7:32, #4:32\n"
         "%2:32x4 = load_global u9l:64, %8:32, #0:64\n"
         "%3:32, %4:32, %5:32, %6:32 = split %2:32x4\n"
         "store_shared #0:32, %6:32\n");
   CLAMP(X "%1:32 = element %0:32, #4:32\n"
           "%2:32 = atomic_global u2l:64, %1:32, #1:32, _, #2:64\n" OUT "%2:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = ishl %0:32, #2:32\n"
         "%3:32 = umin %0:32, u8l:32\n"
         "%4:32 = ishl %3:32, #2:32\n"
         "%2:32 = atomic_global u9l:64, %4:32, #1:32, _, #2:64\n"
         "store_shared #0:32, %2:32\n");
}

/* The index goes to a page of zeros, or of waste. */
static void one_select_redirects(void **state)
{
   ZERO(X "%1:32 = element %0:32, #4:32\n"
          "%2:32 = load_global u0l:64, %1:32, #0:64\n" OUT "%2:32\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #2:32\n"
        "%3:1 = ult %0:32, u8l:32\n"
        "%4:32 = select %3:1, %0:32, u9l:32\n"
        "%5:32 = ishl %4:32, #2:32\n"
        "%2:32 = load_global u0l:64, %5:32, #0:64\n"
        "store_shared #0:32, %2:32\n");
   ZERO(X "%1:32 = element %0:32, #2:32\n"
          "store_global u2l:64, %1:32, #7:16, #0:64\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #1:32\n"
        "%2:1 = ult %0:32, u8l:32\n"
        "%3:32 = select %2:1, %0:32, u9l:32\n"
        "%4:32 = ishl %3:32, #1:32\n"
        "store_global u2l:64, %4:32, #7:16, #0:64\n");
   ZERO(X "%1:32 = element %0:32, #8:32\n"
          "%2:32x2 = load_global u0l:64, %1:32, #8:64\n"
          "%3:32, %4:32 = split %2:32x2\n" OUT "%4:32\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #3:32\n"
        "%5:1 = ult %0:32, u8l:32\n"
        "%6:32 = select %5:1, %0:32, u9l:32\n"
        "%7:32 = ishl %6:32, #3:32\n"
        "%2:32x2 = load_global u0l:64, %7:32, #8:64\n"
        "%3:32, %4:32 = split %2:32x2\n"
        "store_shared #0:32, %4:32\n");
   ZERO(X "%1:32 = element %0:32, #4:32\n"
          "%2:32 = atomic_global u2l:64, %1:32, #1:32, _, #2:64\n" OUT "%2:32\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #2:32\n"
        "%3:1 = ult %0:32, u8l:32\n"
        "%4:32 = select %3:1, %0:32, u9l:32\n"
        "%5:32 = ishl %4:32, #2:32\n"
        "%2:32 = atomic_global u2l:64, %5:32, #1:32, _, #2:64\n"
        "store_shared #0:32, %2:32\n");
}

/* Only where the index is the count can a part be inside. */
static void vectors_are_split_for_one_thread_only(void **state)
{
   ZERO(X "%1:32 = element %0:32, #8:32\n"
          "%2:32x2 = load_global u0l:64, %1:32, #0:64\n"
          "%3:32, %4:32 = split %2:32x2\n" OUT "%4:32\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #3:32\n"
        "%5:1 = ult %0:32, u8l:32\n"
        "%6:32 = select %5:1, %0:32, u9l:32\n"
        "%7:32 = ishl %6:32, #3:32\n"
        "%8:1 = ieq %0:32, u8l:32\n"
        "%13:32x2 = load_global u0l:64, %7:32, #0:64\n"
        "%14:32, %15:32 = split %13:32x2\n"
        "branch %8:1\n"
        "if\n"
        "   %9:1 = ult %0:32, u10l:32\n"
        "   %10:32 = select %9:1, %0:32, u9l:32\n"
        "   %11:32 = ishl %10:32, #3:32\n"
        "   %12:32 = load_global u0l:64, %11:32, #0:64\n"
        "else\n"
        "end\n"
        "%16:32 = phi %12:32, %14:32\n"
        "%17:32 = phi #0:32, %15:32\n"
        "%2:32x2 = collect %16:32, %17:32\n"
        "%3:32, %4:32 = split %2:32x2\n"
        "store_shared #0:32, %4:32\n");
   ZERO(X "%1:32 = element %0:32, #0x10:32\n"
          "%2:32x3 = collect %0:32, %0:32, %0:32\n"
          "store_global u2l:64, %1:32, %2:32x3, #0:64\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #4:32\n"
        "%2:32x3 = collect %0:32, %0:32, %0:32\n"
        "%3:1 = ult %0:32, u8l:32\n"
        "%4:32 = select %3:1, %0:32, u9l:32\n"
        "%5:32 = ishl %4:32, #4:32\n"
        "%6:32, %7:32, %8:32 = split %2:32x3\n"
        "%9:1 = ieq %0:32, u8l:32\n"
        "store_global u2l:64, %5:32, %2:32x3, #0:64\n"
        "branch %9:1\n"
        "if\n"
        "   %10:1 = ult %0:32, u10l:32\n"
        "   %11:32 = select %10:1, %0:32, u9l:32\n"
        "   %12:32 = ishl %11:32, #4:32\n"
        "   store_global u2l:64, %12:32, %6:32, #0:64\n"
        "   %13:1 = ult %0:32, u11l:32\n"
        "   %14:32 = select %13:1, %0:32, u9l:32\n"
        "   %15:32 = ishl %14:32, #4:32\n"
        "   store_global u2l:64, %15:32, %7:32, #0x100:64\n"
        "else\n"
        "end\n");
}

/* Where the index is the count of either, all elements go one by one. */
static void copies_share_a_branch(void **state)
{
   ZERO(X "%1:32 = element %0:32, #8:32\n"
          "%2:32x2 = load_global u0l:64, %1:32, #0:64\n"
          "store_global u2l:64, %1:32, %2:32x2, #0:64\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #3:32\n"
        "%3:1 = ult %0:32, u8l:32\n"
        "%4:32 = select %3:1, %0:32, u9l:32\n"
        "%5:32 = ishl %4:32, #3:32\n"
        "%6:1 = ieq %0:32, u8l:32\n"
        "%11:32x2 = load_global u0l:64, %5:32, #0:64\n"
        "%12:32, %13:32 = split %11:32x2\n"
        "%19:1 = ieq %0:32, u11l:32\n"
        "%20:1 = ior %6:1, %19:1\n"
        "branch %20:1\n"
        "if\n"
        "   %7:1 = ult %0:32, u10l:32\n"
        "   %8:32 = select %7:1, %0:32, u9l:32\n"
        "   %9:32 = ishl %8:32, #3:32\n"
        "   %10:32 = load_global u0l:64, %9:32, #0:64\n"
        "   %21:1 = ult %0:32, u8l:32\n"
        "   %22:32 = select %21:1, %0:32, u9l:32\n"
        "   %23:32 = ishl %22:32, #3:32\n"
        "   %24:32 = load_global u0l:64, %23:32, #0x100:64\n"
        "   %25:1 = ult %0:32, u13l:32\n"
        "   %26:32 = select %25:1, %0:32, u12l:32\n"
        "   %27:32 = ishl %26:32, #3:32\n"
        "   store_global u2l:64, %27:32, %10:32, #0:64\n"
        "   %28:1 = ult %0:32, u11l:32\n"
        "   %29:32 = select %28:1, %0:32, u12l:32\n"
        "   %30:32 = ishl %29:32, #3:32\n"
        "   store_global u2l:64, %30:32, %24:32, #0x100:64\n"
        "else\n"
        "end\n"
        "%14:32 = phi %10:32, %12:32\n"
        "%15:32 = phi %24:32, %13:32\n"
        "%2:32x2 = collect %14:32, %15:32\n"
        "%16:1 = ult %0:32, u11l:32\n"
        "%17:32 = select %16:1, %0:32, u12l:32\n"
        "%18:32 = ishl %17:32, #3:32\n"
        "store_global u2l:64, %18:32, %2:32x2, #0:64\n");
   ZERO(X "%1:32 = element %0:32, #8:32\n"
          "%2:32x2 = load_global u0l:64, %1:32, #0:64\n"
          "%3:32, %4:32 = split %2:32x2\n"
          "%5:32x2 = collect %4:32, %3:32\n"
          "store_global u2l:64, %1:32, %5:32x2, #0:64\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #3:32\n"
        "%6:1 = ult %0:32, u8l:32\n"
        "%7:32 = select %6:1, %0:32, u9l:32\n"
        "%8:32 = ishl %7:32, #3:32\n"
        "%9:1 = ieq %0:32, u8l:32\n"
        "%14:32x2 = load_global u0l:64, %8:32, #0:64\n"
        "%15:32, %16:32 = split %14:32x2\n"
        "%22:1 = ieq %0:32, u11l:32\n"
        "%23:1 = ior %9:1, %22:1\n"
        "branch %23:1\n"
        "if\n"
        "   %10:1 = ult %0:32, u10l:32\n"
        "   %11:32 = select %10:1, %0:32, u9l:32\n"
        "   %12:32 = ishl %11:32, #3:32\n"
        "   %13:32 = load_global u0l:64, %12:32, #0:64\n"
        "   %24:1 = ult %0:32, u8l:32\n"
        "   %25:32 = select %24:1, %0:32, u9l:32\n"
        "   %26:32 = ishl %25:32, #3:32\n"
        "   %27:32 = load_global u0l:64, %26:32, #0x100:64\n"
        "   %28:1 = ult %0:32, u13l:32\n"
        "   %29:32 = select %28:1, %0:32, u12l:32\n"
        "   %30:32 = ishl %29:32, #3:32\n"
        "   store_global u2l:64, %30:32, %27:32, #0:64\n"
        "   %31:1 = ult %0:32, u11l:32\n"
        "   %32:32 = select %31:1, %0:32, u12l:32\n"
        "   %33:32 = ishl %32:32, #3:32\n"
        "   store_global u2l:64, %33:32, %13:32, #0x100:64\n"
        "else\n"
        "end\n"
        "%17:32 = phi %13:32, %15:32\n"
        "%18:32 = phi %27:32, %16:32\n"
        "%2:32x2 = collect %17:32, %18:32\n"
        "%3:32, %4:32 = split %2:32x2\n"
        "%5:32x2 = collect %4:32, %3:32\n"
        "%19:1 = ult %0:32, u11l:32\n"
        "%20:32 = select %19:1, %0:32, u12l:32\n"
        "%21:32 = ishl %20:32, #3:32\n"
        "store_global u2l:64, %21:32, %5:32x2, #0:64\n");
}

/* Without an index there is nothing to check: the base is the sink where there is no room. */
static void constants_cost_nothing(void **state)
{
   CLAMP("%0:32 = load_global u0l:64, #0xc:32, #0:64\n" OUT "%0:32\n",
         "%0:32 = load_global u8l:64, #0:32, #0:64\n"
         "store_shared #0:32, %0:32\n");
   ZERO("%0:32x2 = load_global u0l:64, #0xc:32, #0:64\n"
        "%1:32, %2:32 = split %0:32x2\n" OUT "%2:32\n",
        "%3:32 = load_global u8l:64, #0:32, #0:64\n"
        "%4:32 = load_global u10l:64, #0:32, #0:64\n"
        "%0:32x2 = collect %3:32, %4:32\n"
        "%1:32, %2:32 = split %0:32x2\n"
        "store_shared #0:32, %2:32\n");
   ZERO(X "store_global u2l:64, #0x10:32, %0:32, #0:64\n",
        "%0:32 = load_shared #0:32\n"
        "store_global u8l:64, #0:32, %0:32, #0:64\n");
}

/* (i & 255) + 3 is i & 255, twelve bytes on. */
static void indices_that_cannot_wrap_lose_their_constants(void **state)
{
   CLAMP(X "%1:32 = iand %0:32, #0xff:32\n"
           "%2:32 = iadd %1:32, #3:32\n"
           "%3:32 = element %2:32, #4:32\n"
           "%4:32 = load_global u0l:64, %3:32, #0:64\n" OUT "%4:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = iand %0:32, #0xff:32\n"
         "%2:32 = iadd %1:32, #3:32\n"
         "%3:32 = ishl %2:32, #2:32\n"
         "%5:32 = umin %1:32, u8l:32\n"
         "%6:32 = ishl %5:32, #2:32\n"
         "%4:32 = load_global u9l:64, %6:32, #0:64\n"
         "store_shared #0:32, %4:32\n");
   CLAMP(X "%1:32 = iadd %0:32, #3:32\n"
           "%2:32 = element %1:32, #4:32\n"
           "%3:32 = load_global u0l:64, %2:32, #0:64\n" OUT "%3:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = iadd %0:32, #3:32\n"
         "%2:32 = ishl %1:32, #2:32\n"
         "%4:32 = umin %1:32, u8l:32\n"
         "%5:32 = ishl %4:32, #2:32\n"
         "%3:32 = load_global u9l:64, %5:32, #0:64\n"
         "store_shared #0:32, %3:32\n");
   CLAMP(X "%1:32 = iand %0:32, #0xff:32\n"
           "%2:32 = ishl %1:32, #2:32\n"
           "%3:32 = element %2:32, #4:32\n"
           "%4:32x4 = load_global u0l:64, %3:32, #0:64\n"
           "%5:32, %6:32, %7:32, %8:32 = split %4:32x4\n" OUT "%5:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = iand %0:32, #0xff:32\n"
         "%2:32 = ishl %1:32, #2:32\n"
         "%3:32 = ishl %2:32, #2:32\n"
         "%9:32 = umin %1:32, u8l:32\n"
         "%10:32 = ishl %9:32, #4:32\n"
         "%4:32x4 = load_global u9l:64, %10:32, #0:64\n"
         "%5:32, %6:32, %7:32, %8:32 = split %4:32x4\n"
         "store_shared #0:32, %5:32\n");
}

/* In zero mode sums and products saturate. */
static void nested_indices_are_one(void **state)
{
   CLAMP(X "%1:32 = element %0:32, #0x40:32\n"
           "%2:32 = element %0:32, #4:32\n"
           "%3:32 = iadd %1:32, %2:32\n"
           "%4:32 = load_global u0l:64, %3:32, #0:64\n" OUT "%4:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = ishl %0:32, #6:32\n"
         "%2:32 = ishl %0:32, #2:32\n"
         "%3:32 = iadd %1:32, %2:32\n"
         "%5:32 = ishl %0:32, #4:32\n"
         "%6:32 = iadd %5:32, %0:32\n"
         "%7:32 = umin %6:32, u8l:32\n"
         "%8:32 = ishl %7:32, #2:32\n"
         "%4:32 = load_global u9l:64, %8:32, #0:64\n"
         "store_shared #0:32, %4:32\n");
   ZERO(X "%1:32 = element %0:32, #0x40:32\n"
          "%2:32 = element %0:32, #4:32\n"
          "%3:32 = iadd %1:32, %2:32\n"
          "%4:32 = load_global u0l:64, %3:32, #0:64\n" OUT "%4:32\n",
        "%0:32 = load_shared #0:32\n"
        "%1:32 = ishl %0:32, #6:32\n"
        "%2:32 = ishl %0:32, #2:32\n"
        "%3:32 = iadd %1:32, %2:32\n"
        "%5:32 = umin %0:32, #0xfffffff:32\n"
        "%6:32 = ishl %5:32, #4:32\n"
        "%7:32 = iadd %6:32, %0:32\n"
        "%8:1 = ult %7:32, %6:32\n"
        "%9:32 = select %8:1, #0xffffffff:32, %7:32\n"
        "%10:1 = ult %9:32, u8l:32\n"
        "%11:32 = select %10:1, %9:32, u9l:32\n"
        "%12:32 = ishl %11:32, #2:32\n"
        "%4:32 = load_global u0l:64, %12:32, #0:64\n"
        "store_shared #0:32, %4:32\n");
   CLAMP(X "%1:32 = element %0:32, #0x4000:32\n"
           "%2:32 = load_global u0l:64, %1:32, #0:64\n" OUT "%2:32\n",
         "%0:32 = load_shared #0:32\n"
         "%1:32 = ishl %0:32, #0xe:32\n"
         "%3:32 = ishl %0:32, #0xa:32\n"
         "%4:32 = umin %3:32, u8l:32\n"
         "%5:32 = ishl %4:32, #4:32\n"
         "%2:32 = load_global u9l:64, %5:32, #0:64\n"
         "store_shared #0:32, %2:32\n");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_checked_when_off),
      cmocka_unit_test(addresses_are_not_checked),
      cmocka_unit_test(constants_leave_aligned_indices),
      cmocka_unit_test(many_strides_are_one_index),
      cmocka_unit_test(one_umin_clamps),
      cmocka_unit_test(one_select_redirects),
      cmocka_unit_test(vectors_are_split_for_one_thread_only),
      cmocka_unit_test(copies_share_a_branch),
      cmocka_unit_test(constants_cost_nothing),
      cmocka_unit_test(indices_that_cannot_wrap_lose_their_constants),
      cmocka_unit_test(nested_indices_are_one),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
