"""The compiled part: optional (without a compiler the plain twin is used) and one build for every CPython (abi3)."""

from __future__ import annotations

import os
import sysconfig
from glob import glob

from setuptools import Extension, setup

abi3 = not sysconfig.get_config_var("Py_GIL_DISABLED")  # a free-threaded CPython has no abi3


def extension(name: str, **more: object) -> Extension:
    """One C file, built without it being needed, for every CPython where that can be."""
    return Extension(
        f"amble.native._{name}",
        [f"src/amble/native/{name}.c"],
        optional=True,
        py_limited_api=abi3,
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if abi3 else [("AMBLE_FULL_API", "1")],
        extra_compile_args=[] if os.name == "nt" else ["-O3", "-std=c11"],
        **more,
    )


extensions = [extension("reader", depends=glob("src/amble/native/*.h")), extension("walker")]

setup(
    ext_modules=[] if os.environ.get("AMBLE_NO_C") else extensions,
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if abi3 and not os.environ.get("AMBLE_NO_C") else {},
)
