# SPDX-License-Identifier: BSD-3-Clause
# APS_CHECK_LIBYAML: find libyaml's static archive.
# Sets LIBYAML_CFLAGS, LIBYAML_ARCHIVE and LIBYAML_LIBS (linker flags that link
# the archive into a shared library and keep its symbols hidden).
AC_DEFUN([APS_CHECK_LIBYAML], [
AC_ARG_VAR([LIBYAML_ARCHIVE], [libyaml's static archive (libyaml.a)])
PKG_CHECK_MODULES([LIBYAML], [yaml-0.1])
AS_IF([test -z "$LIBYAML_ARCHIVE"],
    [LIBYAML_ARCHIVE=`$PKG_CONFIG --variable=libdir yaml-0.1`/libyaml.a])
AC_MSG_CHECKING([for libyaml's static archive])
AS_IF([test -r "$LIBYAML_ARCHIVE"],
    [AC_MSG_RESULT([$LIBYAML_ARCHIVE])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$LIBYAML_ARCHIVE is missing: install libyaml's development package or set LIBYAML_ARCHIVE])])
AC_SUBST([LIBYAML_ARCHIVE])
LIBYAML_LIBS="-Wl,$LIBYAML_ARCHIVE -Wl,--exclude-libs,ALL"
AC_SUBST([LIBYAML_LIBS])
])
