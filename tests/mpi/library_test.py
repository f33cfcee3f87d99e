# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Umbel authors
"""library_test.py LIBUMBEL UMBEL_H: the library exports what the header declares and nothing else, and links no MPI."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from harness import expect, main, run  # noqa: E402

LIBRARY, HEADER = sys.argv[1:3]


def exports_are_those_of_the_header(_):
    status, out, err = run(["nm", "-D", "--defined-only", LIBRARY])
    expect(status == 0, err)
    # V and A: the names of the version nodes; sanitized builds may add symbols of the compiler's own
    exported = {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()[-2] not in ("A", "a")}
    declared = set(re.findall(r"UMBEL_API [^;]*?\b(umbel_\w+)\(", pathlib.Path(HEADER).read_text(encoding="utf-8")))
    expect(len(declared) > 10, f"found only {sorted(declared)} in the header")
    expect(exported == declared, f"exported but not declared: {sorted(exported - declared)}; declared but not exported: "
                                 f"{sorted(declared - exported)}")


def no_mpi_is_linked(_):
    status, out, err = run(["readelf", "-d", LIBRARY])
    expect(status == 0, err)
    expect("libuc" in out, f"no UCX among the needed libraries: is this libumbel?\n{out}")
    status, needed, err = run(["ldd", LIBRARY])
    expect(status == 0, err)
    for text in (out, needed):
        expect(not re.search(r"libmpi|libmpich|libopen-(rte|pal)|libpmix", text), f"links an MPI:\n{text}")


main([exports_are_those_of_the_header, no_mpi_is_linked])
