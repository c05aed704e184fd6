#!/usr/bin/env python3
"""Times block descent on the drape scenes, beside the solver that its parameters come from where that is installed.

    pip install newton==1.8.0 warp-lang==1.19.0     # optional
    python3 tools/bench/vbd.py --gusset target/release/gusset --threads 2

Prints milliseconds a substep of both and their ratio. Where `newton` is not installed, its figures are those measured once
on two cores of the reference machine, and the table says so.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

SCENES = Path(__file__).resolve().parents[2] / "scenes" / "bench"
SIZES = (32, 64, 128)
# ms a substep by (cells, iterations): newton 1.8.0 on the CPU, one thread.
MEASURED = {
    (32, 5): 48.0, (64, 5): 216.0, (128, 5): 1218.0,
    (32, 10): 87.0, (64, 10): 380.0, (128, 10): 1029.0,
}


def ours(gusset, size, iterations, steps, threads):
    """Median ms of a step of `gusset bench`."""
    scene = SCENES / f"drape-vbd-{size}.toml"
    command = [gusset, "bench", str(scene), "--steps", str(steps), "--threads", str(threads),
               "--set", f"solver.iterations={iterations}", "--json"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    if out.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{out.stderr}")
    return 1e3 * json.loads(out.stdout)["scenes"][0]["step"]["median"]


def theirs(size, iterations, steps):
    """Mean ms of a substep of newton's VBD on the same cloth, sphere and plane; None where it is not installed."""
    try:
        import newton
        import numpy as np
        import warp as wp
    except ImportError:
        return None
    wp.set_device("cpu")
    builder = newton.ModelBuilder(gravity=-9.81)
    n, side = size, 1.0
    xs = np.linspace(-0.5 * side, 0.5 * side, n + 1)
    vertices = [wp.vec3(float(x), float(y), 0.0) for y in xs for x in xs]
    triangles = []
    for j in range(n):
        for i in range(n):
            p, q = j * (n + 1) + i, j * (n + 1) + i + 1
            r, t = q + n + 1, p + n + 1
            triangles += [p, q, r, p, r, t] if (i + j) % 2 == 0 else [p, q, t, q, r, t]
    builder.add_cloth_mesh(
        pos=wp.vec3(0.0, 0.0, 0.157),
        rot=wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), 0.1),
        vel=wp.vec3(0.0, 0.0, 0.0), scale=1.0, vertices=vertices, indices=triangles, density=0.2,
        tri_ke=1e4, tri_ka=1e4, tri_kd=0.1, edge_ke=0.1, edge_kd=1e-4, particle_radius=0.003)
    contact = newton.ModelBuilder.ShapeConfig(ke=1e4, kd=0.1, mu=0.3)
    builder.add_shape_sphere(body=-1, radius=0.15, cfg=contact)
    builder.add_ground_plane(height=-0.35, cfg=contact)
    builder.color(include_bending=True)
    model = builder.finalize()
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = 1e4, 0.1, 0.3
    solver = newton.solvers.SolverVBD(
        model, iterations=iterations, particle_enable_self_contact=True,
        particle_self_contact_radius=0.003, particle_self_contact_margin=0.006)
    state, out, control = model.state(), model.state(), model.control()
    dt = 1.0 / 600.0
    begin = None
    for step in range(steps + 2):
        if step == 2:  # what is compiled and allocated once is left out
            wp.synchronize()
            begin = time.perf_counter()
        state.clear_forces()
        contacts = model.collide(state)
        solver.step(state, out, control, contacts, dt)
        state, out = out, state
    wp.synchronize()
    return 1e3 * (time.perf_counter() - begin) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gusset", default="target/release/gusset")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    print(f"{'vertices':>9} {'sweeps':>7} {'newton':>12} {'gusset':>12} {'ratio':>7}")
    for iterations in (5, 10):
        for size in arguments.sizes:
            try:
                measured = theirs(size, iterations, max(arguments.steps // 6, 5))
            except (AttributeError, TypeError) as error:  # another version of newton
                print(f"newton could not be run: {error}", file=sys.stderr)
                measured = None
            note = "" if measured else "  (newton as measured before)"
            reference = measured or MEASURED.get((size, iterations), float("nan"))
            found = ours(arguments.gusset, size, iterations, arguments.steps, arguments.threads)
            print(f"{(size + 1) ** 2:>9} {iterations:>7} {reference:>9.1f} ms {found:>9.2f} ms "
                  f"{reference / found:>6.1f}x{note}")


if __name__ == "__main__":
    main()
