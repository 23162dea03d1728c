# SPDX-License-Identifier: Apache-2.0
#
# hd_flags.m4 - which compiler and linker flags work here, asked one at a time.

# HD_TRY_FLAGS(VARIABLE, FLAGS): appends to VARIABLE each of FLAGS that the compiler takes without a
# word (-Werror: clang only warns about a warning flag that it does not know).
AC_DEFUN([HD_TRY_FLAGS], [
  AC_LANG_PUSH([C])
  m4_foreach_w([hd_flag], [$2], [
    AS_VAR_PUSHDEF([hd_cache], [hd_cv_flag_[]AS_TR_SH(hd_flag)])
    AC_CACHE_CHECK([whether $CC takes hd_flag], [hd_cache], [
      hd_saved=$CFLAGS
      CFLAGS="$CFLAGS -Werror hd_flag"
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM], [AS_VAR_SET([hd_cache], [yes])], [AS_VAR_SET([hd_cache], [no])])
      CFLAGS=$hd_saved
    ])
    AS_VAR_IF([hd_cache], [yes], [$1="$$1 hd_flag"])
    AS_VAR_POPDEF([hd_cache])
  ])
  AC_LANG_POP([C])
])

# HD_VERSION_SCRIPT: hd_version_script=yes when the linker takes --version-script.
AC_DEFUN([HD_VERSION_SCRIPT], [
  AC_CACHE_CHECK([whether the linker takes a version script], [hd_cv_version_script], [
    echo 'X { global: main; local: *; };' >conftest.map
    hd_saved=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,--version-script=conftest.map"
    AC_LINK_IFELSE([AC_LANG_PROGRAM], [hd_cv_version_script=yes], [hd_cv_version_script=no])
    LDFLAGS=$hd_saved
    rm -f conftest.map
  ])
  hd_version_script=$hd_cv_version_script
])

# HD_LIBRARY(VARIABLE, PKG-CONFIG NAME, HEADER, FUNCTION, LIBRARY): sets VARIABLE_CFLAGS and VARIABLE_LIBS, and
# hd_have_VARIABLE to yes or no. Asks pkg-config where there is one, else the compiler. What the user sets in these
# variables is taken as it is.
AC_DEFUN([HD_LIBRARY], [
  AC_ARG_VAR([$1_CFLAGS], [C compiler flags for $2])
  AC_ARG_VAR([$1_LIBS], [linker flags for $2])
  AC_MSG_CHECKING([for $2])
  hd_have_$1=no
  AS_IF([test -n "$$1_LIBS"], [hd_have_$1=yes],
    [test -n "$PKG_CONFIG" && "$PKG_CONFIG" --exists $2 2>/dev/null], [
      $1_CFLAGS=`"$PKG_CONFIG" --cflags $2`
      $1_LIBS=`"$PKG_CONFIG" --libs $2`
      hd_have_$1=yes
    ], [
      hd_saved_libs=$LIBS
      LIBS="-l$5 $LIBS"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <$3>]], [[return &$4 == 0]])], [$1_LIBS=-l$5; hd_have_$1=yes])
      LIBS=$hd_saved_libs
    ])
  AC_MSG_RESULT([$hd_have_$1])
])

# HD_COMMAND_NEEDS(VARIABLE, PKG-CONFIG NAME, DEBIAN PACKAGE): adds the package to hd_missing unless HD_LIBRARY found it.
AC_DEFUN([HD_COMMAND_NEEDS], [AS_VAR_IF([hd_have_$1], [yes], [], [hd_missing="$hd_missing $3"])])
