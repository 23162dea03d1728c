/* SPDX-License-Identifier: Apache-2.0
 *
 * torch_abi.h - the stable C interface of PyTorch as far as the extension uses it. PyTorch declares it in
 * torch/csrc/inductor/aoti_torch/c/shim.h, and keeps it from one version to the next. The functions are looked up in
 * the libraries that are loaded, so the extension is built and runs without PyTorch.
 *
 * A function that returns int32_t returns 0, or another number after an error. None needs the GIL.
 */
#ifndef HP_TORCH_ABI_H
#define HP_TORCH_ABI_H

#include <stdbool.h>
#include <stdint.h>

/* The versions that the tests ran with: of major version 2. Others get no kernels in C. */
enum { TORCH_MINOR_LEAST = 11, TORCH_MINOR_MOST = 15 };

typedef struct torch_tensor_object *torch_tensor; /* a reference, which delete_tensor gives back */
typedef struct torch_library_object *torch_library;

/* A kernel. stack: the arguments in the order of the schema, which the kernel owns; it replaces them by the results,
 * which the caller owns. An int is the number itself, a tensor is a torch_tensor. */
typedef void torch_kernel(uint64_t *stack, uint64_t arguments, uint64_t results);

typedef struct torch_abi {
    uint64_t (*version)(void); /* the major version in the highest byte, then the minor one */
    int32_t (*device_cpu)(void);
    int32_t (*device_cuda)(void);
    int32_t (*delete_tensor)(torch_tensor t);
    int32_t (*data)(torch_tensor t, void **data);
    int32_t (*dimensions)(torch_tensor t, int64_t *count);
    int32_t (*sizes)(torch_tensor t, int64_t **sizes); /* valid as long as the tensor */
    int32_t (*dtype)(torch_tensor t, int32_t *dtype);
    int32_t (*device_type)(torch_tensor t, int32_t *type);
    int32_t (*device_index)(torch_tensor t, int32_t *index);
    int32_t (*is_contiguous)(torch_tensor t, bool *is);
    int32_t (*empty)(int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype, int32_t device_type,
                     int32_t device, torch_tensor *made);
    int32_t (*clone)(torch_tensor t, torch_tensor *made);
    int32_t (*copy)(torch_tensor to, torch_tensor from, int32_t non_blocking);
    bool (*gradients_on)(void);
    void (*set_gradients)(bool on); /* of this thread */
    int32_t (*library)(const char *name, const char *dispatch_key, const char *file, uint32_t line, torch_library *l);
    int32_t (*implement)(torch_library l, const char *name, torch_kernel *kernel);
    int32_t (*call)(const char *name, const char *overload, uint64_t *stack); /* as a kernel does with its stack */
    void (*check)(bool is, const char *function, const char *file, uint32_t line, const char *sentence); /* throws */
    int32_t (*cuda_stream)(int32_t device, void **stream); /* NULL: PyTorch is without CUDA */
} torch_abi;

#endif
