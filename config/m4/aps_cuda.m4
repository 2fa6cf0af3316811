# SPDX-License-Identifier: BSD-3-Clause
# APS_CHECK_CUDA: find nvcc, its headers and its static runtime, for the plugin
# that works in GPU memory.
# Sets NVCC, NVCCFLAGS, CUDA_GENCODE, CUDA_CPPFLAGS and CUDART_ARCHIVE, and
# have_cuda to yes or to the reason why not.
AC_DEFUN([APS_CHECK_CUDA], [
AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda@<:@=DIR@:>@],
        [build for GPU memory, with the CUDA toolkit in DIR (default: if nvcc is in PATH, CUDA_HOME or /usr/local/cuda)])],
    [], [with_cuda=auto])
AC_ARG_VAR([NVCC], [the CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [its flags (default: -O3)])
AC_ARG_VAR([CUDA_ARCHITECTURES],
    [GPUs to compile for (default: those of 75 80 90 100 that nvcc knows)])
: ${NVCCFLAGS=-O3}
have_cuda=yes
AS_CASE([$with_cuda],
    [no], [have_cuda="not asked for"],
    [yes|auto], [AC_PATH_PROGS([NVCC], [nvcc], [],
        [$PATH$PATH_SEPARATOR${CUDA_HOME:-/usr/local/cuda}/bin$PATH_SEPARATOR/usr/local/cuda/bin])],
    [AC_PATH_PROGS([NVCC], [nvcc], [], [$with_cuda/bin])])
AS_IF([test "x$have_cuda" = xyes && test -z "$NVCC"],
    [have_cuda="nvcc was not found"])

# What nvcc itself says of where it lives; distributions put headers and
# libraries elsewhere.
AS_IF([test "x$have_cuda" = xyes],
    [aps_cuda_top=`$NVCC --dryrun -c aps.cu 2>&1 | $SED -n 's/^#\\$ TOP=//p'`
     CUDART_ARCHIVE=
     for aps_dir in "$aps_cuda_top/lib64" "$aps_cuda_top/lib" \
         "$aps_cuda_top/targets/$host_cpu-linux/lib" \
         "/usr/lib/$host_cpu-linux-gnu"; do
         AS_IF([test -z "$CUDART_ARCHIVE" && test -r "$aps_dir/libcudart_static.a"],
             [CUDART_ARCHIVE=$aps_dir/libcudart_static.a])
     done
     CUDA_CPPFLAGS="-isystem $aps_cuda_top/include"
     AS_IF([test -r "$aps_cuda_top/include/cuda.h"], [],
         [test -r /usr/include/cuda.h], [CUDA_CPPFLAGS=],
         [have_cuda="$aps_cuda_top/include/cuda.h is missing"])
     AS_IF([test "x$have_cuda" != xyes], [],
         [test -z "$CUDART_ARCHIVE"],
         [have_cuda="libcudart_static.a is missing in $aps_cuda_top"])])

# Flags that change products, quotients or subnormal values change the bits.
AS_CASE([" $NVCCFLAGS "],
    [*[[\ =]]-use_fast_math[[\ =]]*|*[[\ =]]--use_fast_math[[\ =]]*|*[[\ =]]-ftz=true\ *|*[[\ =]]--ftz=true\ *|*[[\ =]]-fmad=true\ *|*[[\ =]]--fmad=true\ *],
    [AC_MSG_ERROR([NVCCFLAGS='$NVCCFLAGS': with fast arithmetic a GPU's sums would not have the bits of the host's; remove -use_fast_math, -ftz=true and -fmad=true])])

AS_IF([test "x$have_cuda" = xyes],
    [AC_MSG_CHECKING([which GPUs $NVCC compiles for])
     aps_known=`$NVCC --list-gpu-code 2>/dev/null`
     aps_architectures=
     CUDA_GENCODE=
     for aps_arch in ${CUDA_ARCHITECTURES:-75 80 90 100}; do
         AS_CASE([" "`echo $aps_known`" "],
             [*" sm_$aps_arch "*],
             [aps_architectures="$aps_architectures $aps_arch"
              CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$aps_arch,code=sm_$aps_arch"
              aps_newest=$aps_arch])
     done
     AS_IF([test -n "$aps_architectures"],
         [CUDA_GENCODE="$CUDA_GENCODE -gencode arch=compute_$aps_newest,code=compute_$aps_newest"
          AC_MSG_RESULT([$aps_architectures and PTX])],
         [AC_MSG_RESULT([none])
          have_cuda="$NVCC knows none of the GPUs ${CUDA_ARCHITECTURES:-75 80 90 100}"])])

# That it works, with a host compiler that it likes.
AS_IF([test "x$have_cuda" = xyes],
    [AC_MSG_CHECKING([whether $NVCC works])
     cat >conftest.cu <<'END'
struct pair { int a, b; };
static __global__ void kernel(const __grid_constant__ pair p, int *x)
{
    *x = p.a + p.b;
}
int main(int argc, char **)
{
    pair p = {.a = argc, .b = 1};
    kernel<<<1, 1>>>(p, nullptr);
    return 0;
}
END
     AS_IF([$NVCC -std=c++20 $NVCCFLAGS $CUDA_GENCODE -c -o conftest.o conftest.cu >&AS_MESSAGE_LOG_FD 2>&1],
         [AC_MSG_RESULT([yes])],
         [AC_MSG_RESULT([no])
          have_cuda="$NVCC does not compile C++20 for$aps_architectures (config.log says more)"])
     rm -f conftest.cu conftest.o])

AS_IF([test "x$have_cuda" = xyes], [],
    [AS_CASE([$with_cuda],
        [auto|no], [],
        [AC_MSG_ERROR([--with-cuda=$with_cuda: $have_cuda])])])
AC_SUBST([CUDA_GENCODE])
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([CUDART_ARCHIVE])
AS_IF([test "x$have_cuda" = xyes],
    [AC_DEFINE_UNQUOTED([APS_CUDA_BUILT],
        ["$NVCC, for$aps_architectures and PTX"],
        [The CUDA compiler of the build and the GPUs that it compiles for.])],
    [AC_DEFINE_UNQUOTED([APS_CUDA_MISSING], ["$have_cuda"],
        [Why the build is without CUDA.])])
CUDA_SKIP=
AS_IF([test "x$have_cuda" != xyes], [CUDA_SKIP="built without CUDA: $have_cuda"])
AC_SUBST([CUDA_SKIP])
AM_CONDITIONAL([HAVE_CUDA], [test "x$have_cuda" = xyes])
])
