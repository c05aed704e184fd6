"""Opens a run folder and its exports with those of the named modules that are installed; fails where they disagree.

usage: read_back.py FOLDER MODULE...
"""

import sys
from pathlib import Path

import numpy as np

root, modules = Path(sys.argv[1]), sys.argv[2:]

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

for name, shape, kind in (
    ("film", (3, 4, 3), np.float64),
    ("faces", (2, 3), np.int32),
    ("spheres", (3, 2, 3), np.float64),
    ("radii", (2,), np.float64),
    ("obstacle", (1, 3, 3), np.float64),
    ("obstacle-faces", (1, 3), np.int32),
    ("points", (3, 1, 3), np.float64),
    ("times", (3,), np.float64),
):
    array = np.load(root / f"npy/{name}.npy")
    assert array.shape == shape and array.dtype == kind, (name, array.shape, array.dtype)
film = np.load(root / "npy/film.npy")
assert np.array_equal(film, cloth.astype(float))
assert np.array_equal(np.load(root / "npy/faces.npy"), faces)

if "meshio" in modules:
    import meshio

    vtu = meshio.read(root / "vtk/body00-00002.vtu")
    assert np.array_equal(vtu.points, cloth[2].astype(float))
    assert np.array_equal(vtu.cells_dict["triangle"], faces)
    assert np.allclose(vtu.point_data["speed"], 0.2)
    balls = meshio.read(root / "vtk/body01-00001.vtu")
    assert np.allclose(balls.point_data["radius"], [0.5, 0.25])
    assert balls.cells_dict["vertex"].shape == (2, 1)
    assert len(list((root / "vtk").glob("body02-*.vtu"))) == 1
    assert meshio.read(root / "ply/frame-00000.ply").points.shape == (7 + 2 * 642, 3)

if "trimesh" in modules:
    import trimesh

    for kind in ("ply", "obj"):
        path = root / kind / f"frame-00002.{kind}"
        mesh = trimesh.load(path, process=False, force="mesh")
        assert mesh.vertices.shape == (7 + 2 * 642, 3), mesh.vertices.shape
        assert mesh.faces.shape == (3 + 2 * 1280, 3)
        balls = [part for part in mesh.split(only_watertight=True)]
        assert len(balls) == 2 and all(ball.is_volume for ball in balls)
        radii = sorted(float(ball.extents.max()) / 2 for ball in balls)
        assert np.allclose(radii, [0.25, 0.5], rtol=0.01), radii
    # The root node turns z up to y up: (x, y, z) becomes (x, z, -y).
    scene = trimesh.load(root / "glb/run.glb", process=False)
    bounds = scene.bounds
    assert np.allclose(bounds[:, 0], [0.0, 3.5]), bounds
    node = next(n for n in scene.graph.nodes_geometry if scene.graph[n][1] == "cloth")
    transform, geometry = scene.graph[node]
    points = trimesh.transform_points(scene.geometry[geometry].vertices, transform)
    assert np.allclose(points, film[0][:, [0, 2, 1]] * [1, 1, -1], atol=1e-6), points

if "pxr" in modules:
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(root / "usd/run.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and UsdGeom.GetStageMetersPerUnit(stage) == 1
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/run/cloth"))
    codes = mesh.GetPointsAttr().GetTimeSamples()
    assert codes == [0, 12, 24] and stage.GetEndTimeCode() == 24 and stage.GetTimeCodesPerSecond() == 24
    for code, points in zip(codes, film):
        assert np.array_equal(np.array(mesh.GetPointsAttr().Get(code)), points.astype(np.float32))
    assert np.array_equal(np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3), faces)
    ball = stage.GetPrimAtPath("/run/two_balls/sphere_1")
    assert UsdGeom.Sphere(ball).GetRadiusAttr().Get() == 0.25
    place = UsdGeom.Xformable(ball).GetLocalTransformation(24).ExtractTranslation()
    assert np.allclose(place, np.load(root / "npy/spheres.npy")[2, 1]), place
    assert stage.GetPrimAtPath("/run/dust").GetTypeName() == "Points"
