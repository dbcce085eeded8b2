"""Reading CUDA C: the kernels of a source text and their parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ... import errors

_KERNEL = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(([^)]*)\)\s*\{')
_ARRAY_SUFFIX = "_ptr"
#: Widest vector of CUDA, and so the alignment of an array that is read in vectors.
_VECTOR_BYTES = 16

#: C types of scalar parameters.
SCALARS: dict[str, str] = {
    "bool": "bool",
    "int": "int32",
    "int32_t": "int32",
    "int64_t": "int64",
    "long long": "int64",
    "uint": "uint32",
    "unsigned int": "uint32",
    "uint64_t": "uint64",
    "float": "float32",
    "double": "float64",
}


@dataclass(frozen=True)
class CudaParameter:
    """One parameter of a kernel.

    Attributes
    ----------
    name
        Without the ``_ptr`` that TVM appends to arrays.
    ctype
        Its C type without qualifiers, such as ``float*``.
    is_vector
        Whether the kernel reads or writes it in vectors: then its address must be a multiple of 16.
    """

    name: str
    ctype: str
    is_vector: bool = False

    @property
    def is_array(self) -> bool:
        """Whether it is a pointer."""
        return self.ctype.endswith("*")

    @property
    def alignment(self) -> int:
        """What the address of the array must be a multiple of, apart from its element size."""
        return _VECTOR_BYTES if self.is_vector else 1


@dataclass(frozen=True)
class CudaKernel:
    """One ``__global__`` function."""

    name: str
    parameters: tuple[CudaParameter, ...]


def kernels_of(source: str) -> tuple[CudaKernel, ...]:
    """The kernels that a source defines, in order.

    Raises
    ------
    BuildError
        ST510 if there is none, or one with a parameter of an unknown type.
    """
    found = []
    for match in _KERNEL.finditer(source):
        texts = [text for text in match[2].split(",") if text.strip()]
        found.append(CudaKernel(match[1], tuple(_parameter(text, source, match[1]) for text in texts)))
    if not found:
        expected = 'extern "C" __global__ void NAME(..)'
        raise errors.error("ST510", "cuda_on_cpu", "a source without kernels", expected)
    return tuple(found)


def _parameter(text: str, source: str, kernel: str) -> CudaParameter:
    plain = re.sub(r"\b(__restrict__|const)\b", " ", text).replace("*", "* ")
    ctype, name = plain.rsplit(None, 1)
    ctype = re.sub(r"\s+\*", "*", " ".join(ctype.split()))
    if not ctype.endswith("*"):
        if ctype not in SCALARS:
            found = f"parameter {name} of type {ctype}"
            raise errors.error("ST510", f"cuda_on_cpu: {kernel}", found, ", ".join(SCALARS))
        return CudaParameter(name, ctype)
    is_vector = re.search(rf"\w+[24]\s*\*\)\s*\(\s*{re.escape(name)}\b", source) is not None
    return CudaParameter(name.removesuffix(_ARRAY_SUFFIX), ctype, is_vector)


def scalar_bits(ctype: str, value: object) -> int:
    """The bytes of a scalar argument as an unsigned number."""
    return int.from_bytes(np.array(value, SCALARS[ctype]).tobytes(), "little")


def glue(kernels: tuple[CudaKernel, ...]) -> str:
    """What follows the source: the functions through which the emulator calls its kernels."""
    cases, names = [], []
    for number, kernel in enumerate(kernels):
        values = [f"*({p.ctype}*)arguments[{q}]" for q, p in enumerate(kernel.parameters)]
        cases.append(f"    case {number}: return {kernel.name}({', '.join(values)});")
        names.append(f'"{kernel.name}"')
    return "\n".join(
        [
            "",
            "void CallKernel(int kernel, void** arguments) {",
            "  switch (kernel) {",
            *cases,
            "  }",
            "}",
            "const char* KernelName(int kernel) {",
            f"  static const char* const names[] = {{{', '.join(names)}}};",
            "  return names[kernel];",
            "}",
            "",
        ]
    )
