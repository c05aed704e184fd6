//! All stencils of one element type, as arrays, with the compiled programs that evaluate them.

use crate::contacts::Contacts;
use crate::curve::Window;
use crate::element::{At, Blocks, Element, Fields, vec3};
use crate::program::{LANES, Program, Scratch};
use crate::psd::project;
use crate::shader::Shader;
use crate::term::{Lagged, StepState, Term, VertexBlock, Want, block_count, block_index};
use crate::vertex::Incidence;
use crate::vertex_blocks::{add_vertex_blocks, look_back};
use glam::DVec3;
use gusset_scalar::Mat3;
use rayon::prelude::*;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Stencils per task: fixed, so that results do not depend on the number of threads.
const CHUNK: usize = 16 * LANES;

/// The arrays of a [`Batch`]: world vertices and constants, stencil after stencil.
#[derive(Clone, Debug, Default)]
pub struct Stencils<const N: usize> {
    vertices: Vec<u32>,
    params: Vec<f64>,
}

impl<const N: usize> Stencils<N> {
    /// Removes all stencils.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.params.clear();
    }

    /// Appends a stencil of world vertices.
    pub fn push(&mut self, vertices: [u32; N], params: &impl Fields<f64>) {
        self.vertices.extend(vertices);
        params.write(&mut self.params);
    }
}

type Rows<const N: usize> = Box<dyn Fn(&Contacts, &mut Stencils<N>) + Send + Sync>;
type Lag<const N: usize> = Box<dyn Fn(&Contacts, &Lagged, &mut Stencils<N>) + Send + Sync>;
type Publish = Box<dyn Fn(&Contacts, &mut Lagged) + Send + Sync>;
type Schedule = Box<dyn Fn(f64, &mut [f64]) -> bool + Send + Sync>;

/// All stencils of one element type.
pub struct Batch<E, const N: usize> {
    kind: &'static str,
    label: String,
    stencils: Stencils<N>,
    program: Arc<Program>,
    active: bool,
    rows: Option<Rows<N>>,
    lag: Option<Lag<N>>,
    publish: Option<Publish>,
    schedule: Option<Schedule>,
    /// [`Element::start`] of every stencil; empty where no step has begun.
    start: Vec<f64>,
    incidence: OnceLock<Incidence>,
    element: PhantomData<fn() -> E>,
}

impl<E: Element<N>, const N: usize> Batch<E, N> {
    /// A batch of `stencils` (world vertices and constants). `label` is for messages: "spring of `cloth`".
    pub fn new<I>(kind: &'static str, label: String, stencils: I) -> Self
    where
        I: IntoIterator<Item = ([u32; N], E::Params<f64>)>,
    {
        let mut all = Stencils::default();
        for (vertices, params) in stencils {
            all.push(vertices, &params);
        }
        Self {
            kind,
            label,
            stencils: all,
            program: Program::shared::<E, N>(),
            active: true,
            rows: None,
            lag: None,
            publish: None,
            schedule: None,
            start: Vec::new(),
            incidence: OnceLock::new(),
            element: PhantomData,
        }
    }

    /// Makes the stencils contact rows: `rows` rewrites them before every evaluation.
    #[must_use]
    pub fn with_rows(
        mut self,
        rows: impl Fn(&Contacts, &mut Stencils<N>) + Send + Sync + 'static,
    ) -> Self {
        self.rows = Some(Box::new(rows));
        self
    }

    /// Rewrites the stencils at the start of a step from what other terms published.
    #[must_use]
    pub fn with_lag(
        mut self,
        lag: impl Fn(&Contacts, &Lagged, &mut Stencils<N>) + Send + Sync + 'static,
    ) -> Self {
        self.lag = Some(Box::new(lag));
        self
    }

    /// Publishes normal forces at the start of a step.
    #[must_use]
    pub fn with_publish(
        mut self,
        publish: impl Fn(&Contacts, &mut Lagged) + Send + Sync + 'static,
    ) -> Self {
        self.publish = Some(Box::new(publish));
        self
    }

    /// Changes the constants with time: within `window`, `change(t, k, params)` sets those of stencil `k` for a step
    /// that ends at `t` (s); outside of it the term is not there.
    #[must_use]
    pub fn with_schedule(
        mut self,
        window: Window,
        change: impl Fn(f64, usize, &mut E::Params<f64>) + Send + Sync + 'static,
    ) -> Self {
        self.schedule = Some(Box::new(move |t, params| {
            if !window.holds(t) {
                return false;
            }
            let mut flat = Vec::with_capacity(E::Params::<f64>::COUNT);
            for (k, slot) in params.chunks_exact_mut(E::Params::<f64>::COUNT).enumerate() {
                let mut changed = E::Params::read(slot, &mut 0);
                change(t, k, &mut changed);
                flat.clear();
                changed.write(&mut flat);
                slot.copy_from_slice(&flat);
            }
            true
        }));
        self
    }

    /// Number of stencils.
    pub fn len(&self) -> usize {
        self.stencils.vertices.len() / N
    }

    /// Whether there is no stencil.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The traced program: operation counts and GLSL.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Vertices of every stencil.
    pub(crate) fn stencil_vertices(&self) -> &[[u32; N]] {
        self.stencils.vertices.as_chunks().0
    }

    /// [`Element::start`] of every stencil; empty where no step has begun.
    pub(crate) fn start(&self) -> &[f64] {
        &self.start
    }

    fn incidence(&self, vertex_count: usize) -> &Incidence {
        let all = &self.stencils.vertices;
        self.incidence.get_or_init(|| Incidence::new(all, N, vertex_count))
    }

    fn max_step_of_one(&self, x: &[DVec3], dx: &[DVec3], stencil: usize) -> f64 {
        let v = self.vertices(stencil);
        let take = |array: &[DVec3]| std::array::from_fn(|i| vec3(array[v[i] as usize]));
        let params = E::Params::read(self.params_of(stencil), &mut 0);
        E::max_step(&take(x), &take(dx), &params)
    }

    fn vertices(&self, stencil: usize) -> &[u32] {
        &self.stencils.vertices[N * stencil..N * (stencil + 1)]
    }

    fn params_of(&self, stencil: usize) -> &[f64] {
        let stride = E::Params::<f64>::COUNT;
        &self.stencils.params[stride * stencil..stride * (stencil + 1)]
    }

    #[inline(always)]
    fn load(&self, at: &StepState<'_>, stencil: usize) -> (At<f64, N>, E::Params<f64>) {
        let v = self.vertices(stencil);
        let take = |array: &[DVec3]| std::array::from_fn(|i| vec3(array[v[i] as usize]));
        let here =
            At { x: take(at.x), x_start: take(at.x_start), v_start: take(at.v_start), dt: at.dt };
        (here, E::Params::read(self.params_of(stencil), &mut 0))
    }

    /// Gathers up to [`LANES`] stencils into the program's inputs; missing lanes repeat the last one.
    pub(crate) fn gather(
        &self,
        at: &StepState<'_>,
        stencil_of_lane: &[usize; LANES],
        inputs: &mut [[f64; LANES]],
    ) {
        let (x, old, v) = (0, 3 * N, 6 * N);
        let [reads_old, reads_v] = self.program.looks_back();
        for (lane, &stencil) in stencil_of_lane.iter().enumerate() {
            for (i, &vertex) in self.vertices(stencil).iter().enumerate() {
                let vertex = vertex as usize;
                for c in 0..3 {
                    inputs[x + 3 * i + c][lane] = at.x[vertex][c];
                }
                for c in 0..3 {
                    if reads_old {
                        inputs[old + 3 * i + c][lane] = at.x_start[vertex][c];
                    }
                    if reads_v {
                        inputs[v + 3 * i + c][lane] = at.v_start[vertex][c];
                    }
                }
            }
            inputs[9 * N][lane] = at.dt;
            for (k, &p) in self.params_of(stencil).iter().enumerate() {
                inputs[9 * N + 1 + k][lane] = p;
            }
        }
    }

    /// Gradients and Hessians of the stencils `first..`, as many as `gradient` has room for.
    fn eval_traced(
        &self,
        at: &StepState<'_>,
        want: Want,
        first: usize,
        gradient: &mut [f64],
        hessian: &mut [f64],
        scratch: &mut Scratch,
    ) {
        let (g, h) = (3 * N, 9 * block_count(N));
        let count = gradient.len() / g;
        for group in (0..count).step_by(LANES) {
            let lanes = LANES.min(count - group);
            self.gather(
                at,
                &std::array::from_fn(|l| first + group + l.min(lanes - 1)),
                scratch.inputs(self.program.input_count()),
            );
            if want == Want::Gradient {
                let out = self.program.gradient(scratch);
                for lane in 0..lanes {
                    let to = &mut gradient[g * (group + lane)..][..g];
                    to.iter_mut().zip(out).for_each(|(a, b)| *a = b[lane]);
                }
                continue;
            }
            let out = self.program.hessian(scratch);
            for lane in 0..lanes {
                let to = &mut gradient[g * (group + lane)..][..g];
                to.iter_mut().zip(&out[..g]).for_each(|(a, b)| *a = b[lane]);
                let blocks = &mut hessian[h * (group + lane)..][..h];
                self.program.scatter_blocks(&out[g..], lane, blocks);
                if want == Want::Hessian {
                    project(blocks, N, E::PSD);
                }
            }
        }
    }

    fn eval_closed(
        &self,
        at: &StepState<'_>,
        first: usize,
        gradient: &mut [f64],
        hessian: &mut [f64],
    ) {
        let (g, h) = (3 * N, 9 * block_count(N));
        let mut blocks = Blocks::<N>::zero();
        for (k, (gradient, hessian)) in
            gradient.chunks_exact_mut(g).zip(hessian.chunks_exact_mut(h)).enumerate()
        {
            let (here, params) = self.load(at, first + k);
            E::closed_form(&here, &params, &mut blocks);
            for i in 0..N {
                let b = &blocks.gradient[i];
                gradient[3 * i..3 * i + 3].copy_from_slice(&[b.x, b.y, b.z]);
                for j in i..N {
                    hessian[9 * block_index(N, i, j)..][..9]
                        .copy_from_slice(&rows(&blocks.hessian[i][j]));
                }
            }
        }
    }
}

/// Row-major entries.
#[inline(always)]
fn rows(m: &Mat3<f64>) -> [f64; 9] {
    std::array::from_fn(|k| m.entry(k / 3, k % 3))
}

impl<E: Element<N>, const N: usize> Term for Batch<E, N> {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn arity(&self) -> usize {
        N
    }

    fn stencils(&self) -> &[u32] {
        &self.stencils.vertices
    }

    fn params(&self) -> (&[f64], usize) {
        (&self.stencils.params, E::Params::<f64>::COUNT)
    }

    fn dynamic(&self) -> bool {
        self.rows.is_some() || self.lag.is_some()
    }

    fn constant(&self) -> bool {
        !self.dynamic() && self.schedule.is_none()
    }

    fn at_time(&mut self, t: f64) {
        if let Some(schedule) = &self.schedule {
            self.active = schedule(t, &mut self.stencils.params);
        }
    }

    fn publish(&self, contacts: &Contacts, lagged: &mut Lagged) {
        if let Some(publish) = &self.publish {
            publish(contacts, lagged);
        }
    }

    fn lag(&mut self, contacts: &Contacts, lagged: &Lagged) {
        if let Some(lag) = &self.lag {
            self.stencils.clear();
            lag(contacts, lagged, &mut self.stencils);
            self.start.clear();
            self.incidence = OnceLock::new();
        }
    }

    fn refresh(&mut self, contacts: &Contacts) {
        if let Some(rows) = &self.rows {
            self.stencils.clear();
            rows(contacts, &mut self.stencils);
            self.start.clear();
            self.incidence = OnceLock::new();
        }
    }

    fn energy(&self, at: &StepState<'_>, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.len(), 0.0);
        if !self.active {
            return;
        }
        out.par_chunks_mut(8 * CHUNK).enumerate().for_each(|(chunk, out)| {
            for (k, e) in out.iter_mut().enumerate() {
                let (here, params) = self.load(at, 8 * CHUNK * chunk + k);
                *e = E::energy(&here, &params);
            }
        });
    }

    fn eval(&self, at: &StepState<'_>, want: Want, gradient: &mut [f64], hessian: &mut [f64]) {
        let (g, h) = (CHUNK * 3 * N, CHUNK * 9 * block_count(N));
        if !self.active {
            gradient.fill(0.0);
            hessian.fill(0.0);
            return;
        }
        let run =
            |scratch: &mut Scratch, chunk: usize, gradient: &mut [f64], hessian: &mut [f64]| {
                if E::CLOSED_FORM && want == Want::Hessian {
                    self.eval_closed(at, chunk * CHUNK, gradient, hessian);
                } else {
                    self.eval_traced(at, want, chunk * CHUNK, gradient, hessian, scratch);
                }
            };
        if want == Want::Gradient {
            gradient
                .par_chunks_mut(g)
                .enumerate()
                .for_each_init(Scratch::default, |s, (c, gradient)| run(s, c, gradient, &mut []));
        } else {
            gradient.par_chunks_mut(g).zip(hessian.par_chunks_mut(h)).enumerate().for_each_init(
                Scratch::default,
                |s, (c, (gradient, hessian))| {
                    run(s, c, gradient, hessian);
                },
            );
        }
    }

    fn begin(&mut self, at: &StepState<'_>) {
        let mut start = std::mem::take(&mut self.start);
        start.clear();
        if self.active && E::VERTEX_BLOCK {
            start.resize(self.len() * E::START, 0.0);
            look_back(self, at, &mut start);
        }
        self.start = start;
    }

    fn vertex_blocks(&self, at: &StepState<'_>, vertices: &[u32], out: &mut [VertexBlock]) {
        if self.active {
            add_vertex_blocks(self, self.incidence(at.x.len()), at, vertices, out);
        }
    }

    fn max_step(&self, x: &[DVec3], dx: &[DVec3]) -> f64 {
        if !(self.active && E::BOUNDS_STEP) {
            return 1.0;
        }
        (0..self.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|stencil| self.max_step_of_one(x, dx, stencil))
            .reduce(|| 1.0, f64::min)
    }

    fn max_step_of(&self, x: &[DVec3], dx: &[DVec3], vertices: &[u32]) -> f64 {
        if !(self.active && E::BOUNDS_STEP) {
            return 1.0;
        }
        let incidence = self.incidence(x.len());
        let around = |vertex: u32| (0..N).flat_map(move |corner| incidence.around(vertex, corner));
        vertices
            .par_iter()
            .with_min_len(CHUNK)
            .flat_map_iter(|&vertex| around(vertex))
            .map(|&stencil| self.max_step_of_one(x, dx, stencil as usize))
            .reduce(|| 1.0, f64::min)
    }

    fn active(&self) -> bool {
        self.active
    }

    fn shader(&self) -> Shader {
        self.program.shader(self.kind)
    }
}
