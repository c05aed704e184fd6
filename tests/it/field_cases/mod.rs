//! Hard cases that people met in other codes and reported in public, each with the answer that is right in closed form or
//! in exact arithmetic. The inputs and answers were made anew for this list; each test names its case.
//!
//! | case | what went wrong | where |
//! |---|---|---|
//! | A01 | edges almost in one line: distance 0 | ipc-toolkit 225 |
//! | A02 | triangle without area: distance 0 | parry 76 |
//! | A03 | coplanar, touching triangles: answer depends on the order of corners | axom 152 |
//! | A04 | clean mesh reported as intersecting | libigl 2381 |
//! | A05 | separating pair at a tiny gap stops the step | Tight-Inclusion 1 |
//! | A06 | grazing and nearly parallel pairs take hours | ipc-toolkit 39, 99 |
//! | A07 | sideways motion makes conservative advancement endless | ipc-toolkit 145 |
//! | A08 | hits at corners and in one plane missed | Sample-Queries |
//! | A09 | vertex of no triangle turns into NaN | newton 3451, 3459 |
//! | A10 | duplicate face, crowded edge: panic | ppf-contact-solver 64 |
//! | A11 | boundary edge taken for a hinge | warp 621 |
//! | A12 | fold angle of a concave rest shape off by a turn | espresso 5385 |
//! | A13 | free fall drifts sideways | newton 276, 224 |
//! | A14 | pieces of a barrier don't join | newton 2154, 2235 |
//! | A15 | contacts beyond the slots of a vertex dropped | newton 4249 |
//! | A16 | smoothed friction creeps | newton 3943 |
//! | A17 | cloth left behind by a fast body | warp 737 |
//! | A18 | edges that move together cut the step | ipc-toolkit 232 |
//! | A19 | squeeze without a way out never ends | ppf-contact-solver 129 |
//! | A20 | contact offset above the mesh's own spacing | ppf-contact-solver 116 |
//! | A21 | obstacle jumps through cloth in one step | ppf-contact-solver 33 |
//! | A22 | negative indices of OBJ files | trimesh 2556, 2364 |
//! | A23 | fan of a polygon that is not convex | tinyobjloader 150, trimesh 2560 |
//! | A24 | tetrahedron of negative volume | GEOS 2154 |
//! | A25 | two spheres with one centre: NaN | rapier 60 |
//! | A26 | single precision loses the gap far from the origin | ifc-lite 2600 |
//! | A27 | restart in the middle of sliding differs | 4C 481 |
//! | A29 | line search at the floor of rounding | polyfem 370 |
//! | A31 | small object on a very large triangle | newton 3773, 3766 |
//!
//! A28 (a GPU without 64-bit floats) and A30 (colouring for block descent) concern parts that are not here.

mod drives;
mod geometry;
mod meshes;
mod motion;
mod sliding;
mod step_bounds;
