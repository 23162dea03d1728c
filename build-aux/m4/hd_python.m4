# SPDX-License-Identifier: Apache-2.0
#
# hd_python.m4 - a Python to build the package heddle with: 3.11 or later, with its headers.

# HD_FIND_PYTHON: sets HD_PYTHON and HD_PYTHON_CPPFLAGS, or leaves HD_PYTHON empty, and the condition HAVE_PYTHON.
AC_DEFUN([HD_FIND_PYTHON], [
  AC_CACHE_CHECK([for a Python from 3.11 on, with headers], [hd_cv_python], [
    hd_cv_python=no
    for hd_python in "$PYTHON" python3 /usr/bin/python3; do
      test -n "$hd_python" || continue
      hd_python=`command -v "$hd_python"` || continue
      "$hd_python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
      hd_include=`"$hd_python" -c 'import sysconfig; print(sysconfig.get_path("include"))'`
      AS_IF([test -f "$hd_include/Python.h"], [hd_cv_python=$hd_python; break])
    done
  ])
  HD_PYTHON=
  HD_PYTHON_CPPFLAGS=
  AS_VAR_IF([hd_cv_python], [no], [], [
    HD_PYTHON=$hd_cv_python
    HD_PYTHON_CPPFLAGS=-I`"$HD_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))'`
  ])
  AC_SUBST([HD_PYTHON])
  AC_SUBST([HD_PYTHON_CPPFLAGS])
  AM_CONDITIONAL([HAVE_PYTHON], [test -n "$HD_PYTHON"])
])
