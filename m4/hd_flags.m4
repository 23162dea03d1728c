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

# HD_NEED(VARIABLE, PKG-CONFIG NAME, DEBIAN PACKAGE, WHAT FOR): a library that Heddle cannot do without.
AC_DEFUN([HD_NEED], [
  PKG_CHECK_MODULES([$1], [$2], [],
    [AC_MSG_ERROR([$2 is missing ($4); on Debian and Ubuntu: apt install $3])])
])
