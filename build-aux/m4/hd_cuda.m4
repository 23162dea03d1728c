# SPDX-License-Identifier: Apache-2.0
#
# hd_cuda.m4 - the CUDA toolkit: where it is, whether it works, what it is to make.

# HD_CUDA: sets NVCC ("" when there is none that works), CUDA_VERSION, CUDA_LIBS, HD_GENCODE, and the conditional HAVE_CUDA.
AC_DEFUN([HD_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=auto|no|DIR], [where the CUDA toolkit is (auto: PATH, then /usr/local/cuda)])],
    [], [with_cuda=auto])
  AC_ARG_WITH([cuda-arch],
    [AS_HELP_STRING([--with-cuda-arch=LIST], [GPU architectures to make code for (default: 80,90; PTX of the last is added; 80-virtual is PTX alone)])],
    [], [with_cuda_arch=80,90])
  AC_ARG_VAR([NVCCFLAGS], [flags for nvcc])
  : ${NVCCFLAGS=-O3}

  NVCC= CUDA_HOME= CUDA_VERSION= CUDA_LIBS= HD_GENCODE=
  AS_CASE([$with_cuda], [no], [],
    [auto|yes],
      [AC_PATH_PROG([NVCC], [nvcc], [], [$PATH$PATH_SEPARATOR/usr/local/cuda/bin])
       AS_IF([test "$with_cuda$NVCC" = yes],
         [AC_MSG_ERROR([nvcc is neither in PATH nor in /usr/local/cuda/bin; say where with --with-cuda=DIR])])],
    [AS_IF([test -x "$with_cuda/bin/nvcc"], [NVCC=$with_cuda/bin/nvcc],
       [AC_MSG_ERROR([there is no $with_cuda/bin/nvcc; --with-cuda wants auto, no, or the toolkit's folder])])])
  AS_IF([test -n "$NVCC"], [
    CUDA_HOME=`AS_DIRNAME(["$NVCC"])`
    CUDA_HOME=`AS_DIRNAME(["$CUDA_HOME"])`
    CUDA_VERSION=`"$NVCC" --version 2>/dev/null | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
    for hd_entry in `AS_ECHO(["$with_cuda_arch"]) | tr , ' '`; do
      hd_arch=`AS_ECHO(["$hd_entry"]) | sed 's/-virtual$//'`
      AS_IF([test "$hd_arch" = "$hd_entry"],
        [HD_GENCODE="$HD_GENCODE -gencode arch=compute_$hd_arch,code=sm_$hd_arch"],
        [HD_GENCODE="$HD_GENCODE -gencode arch=compute_$hd_arch,code=compute_$hd_arch"])
    done
    HD_GENCODE="$HD_GENCODE -gencode arch=compute_$hd_arch,code=compute_$hd_arch"
    for hd_lib in lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib; do
      AS_IF([test -z "$CUDA_LIBS" && test -f "$CUDA_HOME/$hd_lib/libcudart_static.a"],
        [CUDA_LIBS="-L$CUDA_HOME/$hd_lib -lcudart_static -lstdc++ -lpthread -ldl -lrt"])
    done

    AC_CACHE_CHECK([whether $NVCC makes code for $with_cuda_arch], [hd_cv_cuda_works], [
      AS_ECHO(["__global__ void f(int *p) { *p = 1; } int main() { f<<<1, 1>>>(0); return cudaDeviceSynchronize() == cudaSuccess; }"]) >conftest.cu
      hd_cv_cuda_works=no
      AS_IF([test -n "$CUDA_LIBS" && "$NVCC" $HD_GENCODE -c -o conftest.o conftest.cu >&AS_MESSAGE_LOG_FD 2>&1 &&
             $CC -o conftest conftest.o $CUDA_LIBS >&AS_MESSAGE_LOG_FD 2>&1], [hd_cv_cuda_works=yes])
      rm -f conftest conftest.cu conftest.o
    ])
    AS_IF([test "$hd_cv_cuda_works" = no],
      [AS_VAR_IF([with_cuda], [auto], [NVCC=],
         [AC_MSG_ERROR([$NVCC cannot make a program for $with_cuda_arch here (config.log says why); --with-cuda-arch chooses others])])])
  ])
  AS_IF([test -n "$NVCC"], [HD_CPPFLAGS="$HD_CPPFLAGS -DHD_CUDA"], [CUDA_LIBS=])
  AC_SUBST([NVCC])
  AC_SUBST([CUDA_HOME])
  AC_SUBST([CUDA_LIBS])
  AC_SUBST([HD_GENCODE])
  AM_CONDITIONAL([HAVE_CUDA], [test -n "$NVCC"])
  AC_DEFINE_UNQUOTED([HD_NVCC], ["$NVCC"], [the CUDA compiler that configure found; "" when none])
])
