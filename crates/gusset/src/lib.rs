//! Gusset: contact-rich physics in which nothing ever intersects.
//!
//! Films, solids, spheres and obstacles move by Incremental Potential Contact (Li et al. 2020): every step minimises one
//! energy, and no step goes further than contact allows. This crate is the one to depend on; the modules below are the
//! crates it consists of.
//!
//! # Run a scene from a program
//!
//! Energies are plugins: the kinds that a scene names have to be linked, those that come with Gusset by
//! `use gusset_builtin as _;`.
//!
//! ```no_run
//! use gusset::{scene, solve::{Solver, State}};
//!
//! let scene = scene::load("scenes/demo/drape.toml".as_ref(), &[])?;
//! let mut solver = Solver::new(scene.model, scene.settings)?;
//! let mut state = scene.state;
//! solver.check_start(&state)?;
//! let mut next = State::default();
//! for _ in 0..scene.steps {
//!     let record = solver.step(&state, &mut next)?;
//!     std::mem::swap(&mut state, &mut next);
//!     println!("{} s: {} iterations", record.time, record.iterations);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # State in, state out, with forces of your own
//!
//! [`solve::Solver::step`] reads a state and writes another; when a step fails, the other is untouched. Whatever acts on
//! vertices is a term: here a particle with inertia in a field of force that the program changes as it likes.
//!
//! ```
//! use glam::DVec3;
//! use gusset::energy::{At, Batch, Element, Scalar, Vec3, Window, fields};
//! use gusset::mesh::{Body, Material, Mobility, Role, Topology, World};
//! use gusset::solve::{Model, Settings, Solver, State};
//! use std::sync::{Arc, Mutex};
//!
//! /// A mass (kg) under a force (N).
//! struct Particle;
//!
//! fields! { pub struct Driven<S> { mass: S, fx: S, fy: S, fz: S } }
//!
//! impl Element<1> for Particle {
//!     type Params<S: Scalar> = Driven<S>;
//!     fn energy<S: Scalar>(at: &At<S, 1>, p: &Driven<S>) -> S {
//!         let ahead = at.x[0] - at.x_start[0] - at.v_start[0] * at.dt;
//!         let force = Vec3::new(p.fx, p.fy, p.fz);
//!         p.mass * ahead.dot(ahead) / (at.dt * at.dt) * 0.5 - force.dot(at.x[0])
//!     }
//! }
//!
//! let body = Body {
//!     name: "particle".into(),
//!     role: Role::Points,
//!     first: 0,
//!     rest: vec![DVec3::ZERO],
//!     start: vec![DVec3::ZERO],
//!     velocity: vec![DVec3::ZERO],
//!     mass: vec![2.0],
//!     radius: vec![],
//!     mobility: vec![Mobility::Free],
//!     triangles: vec![],
//!     tets: vec![],
//!     topology: Topology::default(),
//!     groups: Default::default(),
//!     material: Material::default(),
//!     slab: None,
//! };
//! let world = World::new(vec![body]);
//! let force = Arc::new(Mutex::new(DVec3::ZERO)); // yours to change between steps
//! let shared = Arc::clone(&force);
//! let driven = Batch::<Particle, 1>::new(
//!     "particle",
//!     "particle".into(),
//!     [([0], Driven { mass: 2.0, fx: 0.0, fy: 0.0, fz: 0.0 })],
//! )
//! .with_schedule(Window::ALWAYS, move |_time, _stencil, p| {
//!     let now = *shared.lock().expect("no thread panics while it holds this");
//!     (p.fx, p.fy, p.fz) = (now.x, now.y, now.z);
//! });
//!
//! let state = State::start(&world);
//! let model = Model { world, terms: vec![Box::new(driven)], prescribed: vec![], contact: None };
//! let settings = Settings { dt: 0.1, tolerance: 1e-9, ..Settings::default() };
//! let mut solver = Solver::new(model, settings)?;
//!
//! *force.lock().unwrap() = DVec3::new(0.0, 0.0, 4.0);
//! let mut next = State::default();
//! solver.step(&state, &mut next)?;
//! assert!((next.v[0].z - 0.2).abs() < 1e-12); // 4 N on 2 kg for 0.1 s
//! assert_eq!(state.v[0].z, 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A tool with energies of your own
//!
//! ```no_run
//! // use gusset_builtin as _;
//! // use my_energy as _;
//! fn main() -> std::process::ExitCode {
//!     gusset::cli::run()
//! }
//! ```

/// Commands: [`run`](gusset_cli::run) is the whole `gusset` tool.
pub use gusset_cli as cli;
/// Candidate pairs, closest features, step bounds, and the independent intersection checker.
pub use gusset_contact as contact;
/// What an energy is, and how it becomes one: `Element`, `Energy`, `Batch`, `Term`, `register!`.
pub use gusset_energy as energy;
/// Bodies as arrays, topology, generators, readers.
pub use gusset_mesh as mesh;
/// Run folders, pictures, the HTML view, exports.
pub use gusset_output as output;
/// The number trait that energies are generic over, small vectors and matrices.
pub use gusset_scalar as scalar;
/// Scene files.
pub use gusset_scene as scene;
/// The time step.
pub use gusset_solve as solve;
/// The global linear system and its solvers.
pub use gusset_system as system;
/// Expression graphs, their derivatives, and the programs made of them.
pub use gusset_trace as trace;
/// Units and quantities.
pub use gusset_units as units;
/// Vertex block descent.
pub use gusset_vbd as vbd;

pub use gusset_scene::Scene;
pub use gusset_solve::{Model, Settings, Solver, State};
