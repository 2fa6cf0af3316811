# SPDX-License-Identifier: BSD-3-Clause
# APS_KERNEL_CFLAGS
#
# KERNEL_CFLAGS: flags of the numeric kernels, which follow CFLAGS. GCC
# vectorises their loops thoroughly only at -O3, and a choice between two
# computed values only where both may be computed whatever exception flags they
# raise; clang does both at -O2. Contraction into fused operations would make
# the variants for different CPUs differ. CFLAGS that do not optimise, and a
# KERNEL_CFLAGS of the user, win over -O3.
AC_DEFUN([APS_KERNEL_CFLAGS], [
AC_ARG_VAR([KERNEL_CFLAGS],
    [compiler flags of the numeric kernels, which follow CFLAGS])
AC_MSG_CHECKING([for flags of the numeric kernels])
AS_IF([test "x$KERNEL_CFLAGS" = x],
    [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if !defined(__OPTIMIZE__) || defined(__clang__)
#error "-O3 is not for these CFLAGS, or not needed"
#endif
]])],
        [KERNEL_CFLAGS="-O3 -fno-trapping-math"],
        [KERNEL_CFLAGS="-fno-trapping-math"])])
KERNEL_CFLAGS="$KERNEL_CFLAGS -ffp-contract=off"
AC_MSG_RESULT([$KERNEL_CFLAGS])
])
