/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_load.cu - see cuda_load.h.
 */
#include <cstring>
#include <new>

#include <cuda.h>

#include "lib/cuda_load.h"
#include "lib/cuda_pages.h"

#if CUDART_VERSION >= 12040

/* The driver's functions that this file calls. */
typedef struct loader {
    decltype(&cuModuleGetLoadingMode) mode;
    decltype(&cuFuncGetModule) module_of;
    decltype(&cuModuleGetFunctionCount) count;
    decltype(&cuModuleEnumerateFunctions) list;
    decltype(&cuFuncLoad) load;
} loader;

static bool find_loader(loader *l)
{
    return cuda_driver_function("cuFuncGetModule", 11000, &l->module_of, sizeof l->module_of) &&
           cuda_driver_function("cuModuleGetFunctionCount", 12040, &l->count, sizeof l->count) &&
           cuda_driver_function("cuModuleEnumerateFunctions", 12040, &l->list, sizeof l->list) &&
           cuda_driver_function("cuFuncLoad", 12040, &l->load, sizeof l->load);
}

static CUresult load_all(const loader *l, CUfunction one)
{
    CUmodule module;
    unsigned n = 0;
    CUresult e = l->module_of(&module, one);
    if (!e) e = l->count(&n, module);
    CUfunction *all = new (std::nothrow) CUfunction[n ? n : 1];
    if (!all) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!e) e = l->list(all, n, module);
    for (unsigned i = 0; i < n && !e; i++) e = l->load(all[i]);
    delete[] all;
    return e;
}

int cuda_load_module(const void *entry)
{
    loader l;
    CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
    cudaFunction_t one = nullptr;
    /* A driver before 11.7 loads all at once. */
    bool lazy = cuda_driver_function("cuModuleGetLoadingMode", 11070, &l.mode, sizeof l.mode) && !l.mode(&mode) &&
                mode == CU_MODULE_LAZY_LOADING;
    if (!lazy) return 0;
    if (!find_loader(&l)) return (int)cudaErrorNotSupported;
    cudaError_t e = cudaGetFuncBySymbol(&one, entry);
    if (e != cudaSuccess) (void)cudaGetLastError();
    return e == cudaSuccess ? (int)load_all(&l, (CUfunction)one) : (int)e;
}

#else

#include <cstdlib>

/* Without the driver's functions: what the environment says decides, as it does for the driver. */
int cuda_load_module(const void *entry)
{
    const char *mode = getenv("CUDA_MODULE_LOADING");
    (void)entry;
    return mode && strcmp(mode, "EAGER") == 0 ? 0 : (int)cudaErrorNotSupported;
}

#endif
