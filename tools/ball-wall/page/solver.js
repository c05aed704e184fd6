// The throw in one dimension, as the engine solves it for this scene: implicit Euler as a minimisation, Newton with a
// plain decrease check, steps toward the wall clipped to 90 % of the way for the barrier. SI units.

/** Most Newton iterations of one step; an exhausted loop keeps its last iterate. */
const MAX_ITERATIONS = 59;
/** Newton ends on a smaller direction [m], before the update. */
const TOLERANCE = 1e-10;
/** Share of the way to the wall that one iteration may use. */
const SLACK = 0.9;

const DEFAULTS = {
  v0: 5, h: 0.01, k: 1e6, kappa: 1e4, dhat: 1e-3, mass: 1, wall: 0.503, thickness: 0.02,
};

/** Barrier -kappa (d - dhat)^2 ln(d / dhat): value [J], first [N] and second [N/m] derivative by d. */
function barrier(d, dhat, kappa) {
  if (d >= dhat) return [0, 0, 0];
  const s = d - dhat;
  const l = Math.log(d / dhat);
  return [
    -kappa * s * s * l,
    -kappa * (2 * s * l + s * s / d),
    -kappa * (2 * l + 4 * s / d - s * s / (d * d)),
  ];
}

/** Depth below the nearest face [m] and the direction out of it; a tie goes to the front face. */
function depth(o, x) {
  const front = x - o.wall;
  const back = o.wall + o.thickness - x;
  if (!(front > 0 && back > 0)) return [0, 0];
  return front <= back ? [front, -1] : [back, 1];
}

/** Contact energy at x: value, first and second derivative by x. */
function contact(o, method, x) {
  if (method === "ipc") {
    const d = o.wall - x;
    if (d <= 0) return [Infinity, 0, 0];
    const [b, db, d2b] = barrier(d, o.dhat, o.kappa);
    return [b, -db, d2b];
  }
  const [p, out] = depth(o, x);
  return [0.5 * o.k * p * p, -o.k * p * out, p > 0 ? o.k : 0];
}

/** What one step minimises: m (x - target)^2 / (2 h^2) + contact [J]. */
function energy(o, method, x, target) {
  return o.mass * (x - target) ** 2 / (2 * o.h * o.h) + contact(o, method, x)[0];
}

/** Newton from x toward the minimum. `iterates` lists every update: where it led, its direction, the share taken. */
function newton(o, method, start, target) {
  const inertia = o.mass / (o.h * o.h);
  const iterates = [];
  let x = start;
  for (let iterations = 1; iterations <= MAX_ITERATIONS; iterations++) {
    const [, slope, curvature] = contact(o, method, x);
    const dx = -(inertia * (x - target) + slope) / (inertia + curvature);
    if (Math.abs(dx) < TOLERANCE) return { x, iterations, iterates, converged: true };
    const bounded = method === "ipc" && x + dx >= o.wall;
    const bound = bounded ? SLACK * (o.wall - x) / dx : 1;
    let share = bound;
    const before = energy(o, method, x, target);
    while (energy(o, method, x + share * dx, target) > before && share > 1e-12) share *= 0.5;
    x += share * dx;
    iterates.push({ x, dx, share, bounded });
  }
  return { x, iterations: MAX_ITERATIONS, iterates, converged: false };
}

/** Steps that cover 0.8 s. */
function stepsAllowed(h) {
  return Math.round(0.8 / h);
}

/** A whole throw from x = 0. The step that leaves by the back face ends it and counts neither for the furthest position
 *  nor for the most iterations. */
function throwBall(o, method, steps = stepsAllowed(o.h)) {
  let x = 0;
  let v = o.v0;
  const run = { through: false, furthest: 0, mostIterations: 0, impact: null, converged: true, steps: [] };
  for (let n = 0; n < steps && !run.through; n++) {
    const target = x + o.h * v;
    const found = newton(o, method, x, target);
    run.steps.push({ start: x, target, ...found });
    run.converged &&= found.converged;
    v = (found.x - x) / o.h;
    x = found.x;
    if (x > o.wall + o.thickness) {
      run.through = true;
    } else {
      run.furthest = Math.max(run.furthest, x);
      if (found.iterations > run.mostIterations) {
        run.mostIterations = found.iterations;
        run.impact = n;
      }
    }
  }
  return Object.assign(run, { x, v });
}

/** Every local minimum of a step's energy [m], by rising x. */
function minima(o, method, target) {
  if (method === "ipc") return [barrierMinimum(o, target)];
  const inertia = o.mass / (o.h * o.h);
  const back = o.wall + o.thickness;
  const middle = o.wall + 0.5 * o.thickness;
  const against = (face) => (inertia * target + o.k * face) / (inertia + o.k);
  const found = [];
  if (target <= o.wall) found.push(target);
  const front = against(o.wall);
  if (front > o.wall && front < middle) found.push(front);
  const rear = against(back);
  if (rear > middle && rear < back) found.push(rear);
  if (target >= back) found.push(target);
  return found;
}

/** The one minimum in front of the wall: bisection on the logarithm of the distance, since the energy is convex. */
function barrierMinimum(o, target) {
  if (o.wall - target >= o.dhat) return target;
  const inertia = o.mass / (o.h * o.h);
  const slope = (d) => inertia * (o.wall - d - target) - barrier(d, o.dhat, o.kappa)[1];
  let near = Math.log(o.dhat) - 700;
  let far = Math.log(o.dhat);
  for (let i = 0; i < 200; i++) {
    const middle = 0.5 * (near + far);
    if (slope(Math.exp(middle)) > 0) near = middle;
    else far = middle;
  }
  return o.wall - Math.exp(0.5 * (near + far));
}
