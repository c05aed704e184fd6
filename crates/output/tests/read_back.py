"""Opens a run folder and its exports with NumPy, meshio and trimesh; exits with an error where they disagree."""

import sys
from pathlib import Path

import meshio
import numpy as np
import trimesh

root = Path(sys.argv[1])

empty = np.load(root / "empty/cloth.npy")
assert empty.shape == (0, 4, 3) and empty.dtype == np.float32

for mode in (None, "r"):
    cloth = np.load(root / "run/cloth.npy", mmap_mode=mode)
    assert cloth.shape == (3, 4, 3) and cloth.dtype == np.float32
    assert np.load(root / "run/two_balls.npy", mmap_mode=mode).shape == (3, 2, 3)
    assert np.load(root / "run/a_b.npy", mmap_mode=mode).shape == (1, 3, 3)
    assert np.load(root / "run/times.npy", mmap_mode=mode).tolist() == [0.0, 0.5, 1.0]
faces = np.load(root / "run/cloth-faces.npy")
assert faces.tolist() == [[0, 1, 2], [0, 2, 3]]

vtu = meshio.read(root / "vtk/body00-00002.vtu")
assert np.array_equal(vtu.points, cloth[2].astype(float))
assert np.array_equal(vtu.cells_dict["triangle"], faces)
assert np.allclose(vtu.point_data["speed"], 0.2)
balls = meshio.read(root / "vtk/body01-00001.vtu")
assert np.allclose(balls.point_data["radius"], [0.5, 0.25])
assert balls.cells_dict["vertex"].shape == (2, 1)
assert len(list((root / "vtk").glob("body02-*.vtu"))) == 1

for kind in ("ply", "obj"):
    path = root / kind / f"frame-00002.{kind}"
    mesh = trimesh.load(path, process=False, force="mesh")
    assert mesh.vertices.shape == (7 + 2 * 642, 3), mesh.vertices.shape
    assert mesh.faces.shape == (3 + 2 * 1280, 3)
    balls = [part for part in mesh.split(only_watertight=True)]
    assert len(balls) == 2 and all(ball.is_volume for ball in balls)
    radii = sorted(float(ball.extents.max()) / 2 for ball in balls)
    assert np.allclose(radii, [0.25, 0.5], rtol=0.01), radii
assert meshio.read(root / "ply/frame-00000.ply").points.shape == (7 + 2 * 642, 3)
