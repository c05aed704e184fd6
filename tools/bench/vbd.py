#!/usr/bin/env python3
"""Times block descent beside the solver that its parameters come from, on the drapes of scenes/bench.

    cargo build --release
    python3 -m venv venv && venv/bin/pip install newton==1.8.0 warp-lang==1.19.0 numpy
    venv/bin/python tools/bench/vbd.py

Both get the same cloth, constants, step, iterations, sphere and floor from the scene files, and the same positions and
velocities to start from: those of the scene, and those of a cloth that has come to hang over the sphere. The table has
milliseconds a substep (medians over the same substeps), their ratio, and how far the two clothes are apart afterwards.
`newton` computes in single precision on one thread, as it does on a CPU; its first run compiles kernels for a minute or
two, which is not counted. Where it is not installed the table has our times alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
WARM_UP = 2  # substeps that are left out, of both
SUBSTEPS = 10  # a frame of 1/60 s


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gusset", default=str(ROOT / "target/release/gusset"))
    parser.add_argument("--threads", type=int, default=2, help="of gusset")
    parser.add_argument("--sizes", type=int, nargs="+", default=[32, 64, 128], help="cells a side")
    parser.add_argument("--iterations", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--start", type=float, nargs="+", default=[0.0, 0.5], help="simulated time to start from (s)")
    parser.add_argument("--steps", type=int, default=30, help="substeps that count")
    parser.add_argument("--seconds", type=float, default=30.0, help="most seconds for each case of newton")
    return parser.parse_args()


def ours(arguments, scene, iterations, steps, folder):
    """Runs the scene; seconds of every step, positions after each, triangles, and whether it ran at all."""
    command = [arguments.gusset, "run", str(scene), "--out", str(folder), "--steps", str(steps), "--no-view",
               "--threads", str(arguments.threads), "--set", f"solver.iterations={iterations}",
               "--set", "output.every=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    with open(folder / "steps.jsonl", encoding="utf-8") as lines:
        seconds = [json.loads(line)["seconds"]["total"] for line in lines]
    return seconds, np.load(folder / "cloth.npy", mmap_mode="r"), np.load(folder / "cloth-faces.npy")


def newton_model(scene, x, faces):
    """The scene's cloth at `x`, its sphere and its floor."""
    import newton
    import warp as wp

    body = {b["name"]: b for b in scene["body"]}
    energy = {e["kind"]: e for e in scene["energy"]}
    contact = scene["contact"]
    film, hinge = energy["neo-hookean"], energy["hinge"]
    builder = newton.ModelBuilder(gravity=tuple(float(g) for g in scene["gravity"]))
    builder.add_cloth_mesh(
        pos=wp.vec3(0.0, 0.0, 0.0), rot=wp.quat_identity(), scale=1.0, vel=wp.vec3(0.0, 0.0, 0.0),
        vertices=[wp.vec3(*map(float, p)) for p in x], indices=[int(v) for v in faces.ravel()],
        density=body["cloth"]["material"]["area_density"],
        tri_ke=film["mu"], tri_ka=film["lambda"], tri_kd=film["damping"],
        edge_ke=hinge["per_length"], edge_kd=hinge["damping"], particle_radius=contact["dhat"])
    shape = newton.ModelBuilder.ShapeConfig(
        ke=contact["stiffness"], kd=scene["solver"]["damping"], mu=contact["friction"], margin=0.0)
    ball = body["ball"]["shape"]
    for centre, radius in zip(ball["centres"], ball["radii"]):
        at = wp.transform(wp.vec3(*map(float, centre)), wp.quat_identity())
        builder.add_shape_sphere(body=-1, xform=at, radius=radius, cfg=shape)
    builder.add_ground_plane(height=float(body["floor"]["shape"]["point"][2]), cfg=shape)
    builder.color(include_bending=True)
    model = builder.finalize()
    model.soft_contact_ke, model.soft_contact_kd = contact["stiffness"], scene["solver"]["damping"]
    model.soft_contact_mu = contact["friction"]
    return model


def theirs(arguments, scene, iterations, rest, faces, x, v):
    """Milliseconds of each substep from `x` and `v` on, and where the cloth is then."""
    import newton
    import warp as wp

    model = newton_model(scene, rest, faces)
    contact = scene["contact"]
    solver = newton.solvers.SolverVBD(
        model, iterations=iterations, friction_epsilon=contact["friction_speed"],
        particle_enable_self_contact=True, particle_self_contact_margin=contact["dhat"],
        particle_self_contact_gap=scene["solver"]["gap"], particle_topological_contact_filter_threshold=2,
        particle_vertex_contact_buffer_size=64, particle_edge_contact_buffer_size=128)
    pipeline = newton.CollisionPipeline(model, soft_contact_gap=0.01)
    contacts, control = pipeline.contacts(), model.control()
    now, after = model.state(), model.state()
    now.particle_q.assign(np.ascontiguousarray(x, dtype=np.float32))
    now.particle_qd.assign(np.ascontiguousarray(v, dtype=np.float32))
    numerator, denominator = scene["dt"].removesuffix("s").split("/")
    dt = float(numerator) / float(denominator)
    times, begin = [], time.perf_counter()
    for step in range(WARM_UP + arguments.steps):
        if step == WARM_UP:
            begin = time.perf_counter()
        if step % SUBSTEPS == 0:  # once a frame, as its examples do; not counted
            pipeline.collide(now, contacts)
            solver.rebuild_bvh(now)
        wp.synchronize()
        start = time.perf_counter()
        now.clear_forces()
        solver.step(now, after, control, contacts, dt)
        wp.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
        now, after = after, now
        if time.perf_counter() - begin > arguments.seconds and step >= WARM_UP + 2:
            break
    return times, now.particle_q.numpy()


def prepare_newton():
    """Whether newton is there; says what it is."""
    try:
        import newton
        import warp as wp
    except ImportError:
        print("newton is not installed (pip install newton==1.8.0 warp-lang==1.19.0): our times alone")
        return False
    wp.config.quiet = True
    wp.init()
    wp.set_device("cpu")
    print(f"newton {newton.__version__} on one thread of the CPU, f32")
    return True


def main():
    arguments = parse()
    has_newton = prepare_newton()
    print(f"gusset on {arguments.threads} of {os.cpu_count()} cores, f64; load average {os.getloadavg()[0]:.1f}")
    print(f"{'vertices':>8} {'iterations':>10} {'start':>7} {'substeps':>8} {'newton':>10} {'gusset':>10} {'ratio':>6} {'apart':>9}")
    for iterations in arguments.iterations:
        for size in arguments.sizes:
            path = ROOT / "scenes" / "bench" / f"drape-vbd-{size}.toml"
            scene = tomllib.loads(path.read_text(encoding="utf-8"))
            firsts = [round(600 * start) for start in arguments.start]
            count = WARM_UP + arguments.steps
            with tempfile.TemporaryDirectory() as folder:
                seconds, positions, faces = ours(
                    arguments, path, iterations, max(firsts) + count, Path(folder) / "run")
                for first in firsts:
                    x, steps, reference, apart = positions[first], count, None, ""
                    if has_newton:
                        before = positions[max(first - 1, 0)]
                        times, end = theirs(arguments, scene, iterations, positions[0], faces, x, (x - before) * 600)
                        steps, reference = len(times), float(np.median(times[WARM_UP:]))
                        distance = np.linalg.norm(end - positions[first + steps], axis=1)
                        apart = f"{1e3 * np.sqrt(np.mean(distance ** 2)):>6.3f} mm"
                    found = 1e3 * float(np.median(seconds[first + WARM_UP:first + steps]))
                    left = f"{reference:>7.1f} ms" if reference else f"{'-':>10}"
                    ratio = f"{reference / found:>5.1f}x" if reference else f"{'-':>6}"
                    print(f"{len(x):>8} {iterations:>10} {first / 600:>5.2f} s {steps - WARM_UP:>8} {left} "
                          f"{found:>7.2f} ms {ratio} {apart}", flush=True)


if __name__ == "__main__":
    main()
