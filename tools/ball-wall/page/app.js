// What is shown, and what the controls do to it.

const byId = (id) => document.getElementById(id);

/** Sliders are logarithmic: least, most, and how the value is written. */
const SLIDERS = {
  v0: [0.5, 100, (v) => `${digits(v)} m/s`],
  h: [1e-4, 0.02, (v) => `${digits(v * 1e3)} ms`],
  k: [1e2, 1e9, (v) => `${digits(v)} N/m`],
  dhat: [1e-5, 1e-2, (v) => length(v)],
  kappa: [1e1, 1e8, (v) => `${digits(v)} N/m`],
};
const SPEEDS = [1, 2, 5, 10, 20, 50];
/** How much slower than life the throw is played. */
const SLOW = 8;
/** How long one Newton iterate of the impact is shown [ms]. */
const ITERATE_TIME = 350;
/** Between two pictures of the film [ms]. */
const FRAME_TIME = 16;

const o = { ...DEFAULTS, ...START };
let runs;
/** Step that is shown, and how many of its Newton iterates. */
let n = 0;
let shown = Infinity;
/** A step made up by dragging: where it starts and its target; null while the throw is followed. */
let free = null;
let playing = null;

function simulate() {
  runs = { pen: throwBall(o, "pen"), ipc: throwBall(o, "ipc") };
}

function lastStep() {
  return Math.max(runs.pen.steps.length, runs.ipc.steps.length) - 1;
}

/** The first step whose target is past the front face. */
function impactStep() {
  const found = runs.ipc.steps.findIndex((s) => s.target > o.wall);
  return found < 0 ? lastStep() : found;
}

/** The two steps whose landscapes are shown. */
function steps() {
  if (!free) return { pen: stepAt(runs.pen, n), ipc: stepAt(runs.ipc, n) };
  const made = (method) => ({ ...free, ...newton(o, method, free.start, free.target) });
  return { pen: made("pen"), ipc: made("ipc") };
}

function iteratesOf(both) {
  return Math.max(both.pen.iterates.length, both.ipc.iterates.length);
}

function verdict(run, method) {
  const past = run.furthest - o.wall;
  const doubt = run.converged ? "" : " (Newton ran out of iterations)";
  if (run.through) return `passes through${doubt}`;
  if (past > 0) return `stops ${length(past)} deep${doubt}`;
  if (-past > o.dhat && method === "pen" || run.impact === null) return "does not reach the wall";
  return `stops ${length(-past)} in front${doubt}`;
}

/** Where one step ends, in words. */
function landing(step) {
  const x = step.x ?? step.start;
  const past = x - o.wall;
  const where = past <= 0 ? `${length(-past)} in front of the wall`
    : past <= o.thickness ? `${length(past)} inside the wall` : `${length(past - o.thickness)} behind the wall`;
  return `${where}, ${step.iterations} iteration${step.iterations === 1 ? "" : "s"}`;
}

function figure(id, size, content) {
  const svg = byId(id);
  svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  svg.innerHTML = content;
}

/** Frame that stays while a target is dragged, so that the curves move and not the axes. */
let frame;
let maps = {};

function draw() {
  const both = steps();
  const most = iteratesOf(both);
  const count = Math.min(shown, most);
  if (!free) frame = landscapeFrame(o, [both.pen, both.ipc]);
  for (const method of ["pen", "ipc"]) {
    const { svg, x } = landscape(o, method, both[method], count, frame.range, frame.ceiling);
    maps[method] = x;
    figure(`land-${method}`, FIGURE, svg);
    byId(`one-${method}`).textContent = count >= both[method].iterates.length ? landing(both[method]) : "";
    iterateTable(method, both[method], count);
  }
  figure("near-pen", FIGURE, penaltyMagnifier(o, both.pen, count));
  figure("near-ipc", FIGURE, barrierMagnifier(o, both.ipc, count));
  figure("lanes", LANES, lanes(o, runs, n, free ? Infinity : count));
  const slider = byId("target");
  slider.min = frame.range[0];
  slider.max = frame.range[1];
  slider.value = both.pen.target;
  byId("show-target").textContent = `${digits(both.pen.target, 4)} m`;
  byId("step").value = n;
  byId("show-step").textContent = `step ${n} of ${lastStep()}, t = ${digits(n * o.h * 1e3)} ms`;
  byId("follow").hidden = !free;
  byId("mode").textContent = free
    ? `a step from ${digits(free.start, 4)} m of your own making`
    : `step ${n} of the throw` + (count < most ? `, ${count} of ${most} Newton updates` : "");
  byId("play").textContent = playing ? "Pause" : "Play";
}

function iterateTable(method, step, count) {
  const rows = step.iterates.slice(0, count).map((it, i) => {
    const past = it.x - o.wall;
    return `<tr><td>${i + 1}</td><td>${length(past, 5)}</td><td>${length(it.dx)}</td>
      <td>${digits(it.share * 100)}&thinsp;%${it.bounded ? " (cut at the wall)" : ""}</td></tr>`;
  });
  if (count >= step.iterates.length && step.converged) {
    rows.push(`<tr><td>${step.iterations}</td><td colspan="3">direction below 10<sup>&minus;10</sup> m: done</td></tr>`);
  }
  byId(`iterates-${method}`).innerHTML = `<thead><tr><th>#</th><th>past the front face</th><th>direction</th><th>share taken</th></tr></thead>
    <tbody>${rows.join("")}</tbody>`;
}

/** Everything that depends on the settings. */
function settingsChanged(keepStep) {
  simulate();
  free = null;
  n = keepStep ? Math.min(n, lastStep()) : impactStep();
  shown = Infinity;
  byId("step").max = lastStep();
  for (const [name, [low, high, write]] of Object.entries(SLIDERS)) {
    byId(name).value = Math.log10(Math.min(Math.max(o[name], low), high));
    byId(`show-${name}`).textContent = write(o[name]);
  }
  for (const method of ["pen", "ipc"]) {
    const badge = byId(`verdict-${method}`);
    badge.textContent = `${method === "pen" ? "penalty" : "barrier"} ${verdict(runs[method], method)}`;
    badge.dataset.result = runs[method].through ? "through" : "stopped";
    badge.dataset.newton = runs[method].mostIterations;
    badge.dataset.furthest = runs[method].furthest - o.wall;
  }
  speedTable();
  const way = o.v0 * o.h;
  byId("advice").innerHTML = `One free step of this throw covers ${length(way)}; half the wall is ${length(o.thickness / 2)}. `
    + (way > o.thickness / 2 ? "The step is longer, so whether the ball stays is a matter of where the last step before the wall happens to end."
      : "The step is shorter, so some step lands in the front half, and a stiff enough penalty can hold the ball.");
  draw();
}

function speedTable() {
  const rows = SPEEDS.map((v0) => {
    const at_ = { ...o, v0 };
    const pen = throwBall(at_, "pen");
    const ipc = throwBall(at_, "ipc");
    const past = pen.furthest - o.wall;
    return `<tr data-v0="${v0}" tabindex="0" class="${v0 === o.v0 ? "current" : ""}"><td>${v0}</td>
      <td>${length(v0 * o.h)}</td>
      <td class="${pen.through ? "through" : ""}">${pen.through ? "passes through" : past > 0 ? `${length(past)} deep` : "stays in front"}</td>
      <td>${pen.mostIterations}</td><td>${length(o.wall - ipc.furthest)}</td><td>${ipc.mostIterations}</td></tr>`;
  });
  byId("speeds").innerHTML = `<thead><tr><th>speed [m/s]</th><th>way per step</th><th>penalty, k = ${digits(o.k)} N/m</th><th>Newton</th>
    <th>barrier: gap</th><th>Newton</th></tr></thead><tbody>${rows.join("")}</tbody>`;
}

function stop() {
  playing = null;
}

/** Goes to a step with all of its iterates, or with the first few. */
function go(step, iterates = Infinity) {
  free = null;
  n = Math.min(Math.max(step, 0), lastStep());
  shown = iterates;
  draw();
}

function nextIterate() {
  const most = iteratesOf(steps());
  if (shown < most) {
    shown += 1;
    draw();
  } else if (n < lastStep()) {
    go(n + 1, 0);
  } else {
    go(impactStep(), 0);
  }
}

/** One frame of the film: steps in slow motion; at the impact, iterate by iterate. */
function film() {
  if (!playing) return;
  const now = performance.now();
  const passed = Math.min(now - playing.now, 100);
  playing.now = now;
  playing.due += passed;
  const impact = impactStep();
  if (n === impact && shown < iteratesOf(steps())) {
    if (playing.due >= ITERATE_TIME) {
      playing.due = 0;
      nextIterate();
    }
  } else {
    const length_of = o.h * 1e3 * SLOW;
    const jump = Math.floor(playing.due / length_of);
    if (jump > 0) {
      playing.due -= jump * length_of;
      if (n >= lastStep()) {
        stop();
        draw();
      } else if (n < impact && n + jump >= impact) {
        playing.due = 0;
        go(impact, 0);
      } else {
        go(n + jump);
      }
    }
  }
  setTimeout(film, FRAME_TIME);
}

function play() {
  if (playing) {
    stop();
    draw();
    return;
  }
  if (free || n >= lastStep() || (n === impactStep() && shown === Infinity)) {
    free = null;
    n = 0;
    shown = Infinity;
  }
  playing = { now: performance.now(), due: 0 };
  draw();
  setTimeout(film, FRAME_TIME);
}

/** Drags the target; the start of the step stays. */
function aim(target, method) {
  stop();
  const start = free ? free.start : steps()[method].start;
  free = { start, target: Math.min(Math.max(target, frame.range[0]), frame.range[1]) };
  shown = Infinity;
  draw();
}

function connect() {
  for (const [name, [low, high]] of Object.entries(SLIDERS)) {
    const slider = byId(name);
    slider.min = Math.log10(low);
    slider.max = Math.log10(high);
    slider.step = "any";
    slider.addEventListener("input", () => {
      stop();
      o[name] = Number((10 ** slider.value).toPrecision(3));
      settingsChanged(false);
    });
  }
  for (const method of ["pen", "ipc"]) {
    const svg = byId(`land-${method}`);
    const position = (event) => {
      const box = svg.getBoundingClientRect();
      return maps[method].back((event.clientX - box.left) / box.width * FIGURE.width);
    };
    svg.addEventListener("pointerdown", (event) => {
      // A made-up event has no pointer to capture.
      if (event.isTrusted) svg.setPointerCapture(event.pointerId);
      svg.dataset.dragging = "yes";
      aim(position(event), method);
    });
    svg.addEventListener("pointermove", (event) => {
      if (svg.dataset.dragging) aim(position(event), method);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      svg.addEventListener(end, () => delete svg.dataset.dragging);
    }
  }
  byId("target").addEventListener("input", (event) => aim(Number(event.target.value), "pen"));
  byId("play").addEventListener("click", play);
  byId("next").addEventListener("click", () => { stop(); go(n + 1); });
  byId("back").addEventListener("click", () => { stop(); go(n - 1); });
  byId("iterate").addEventListener("click", () => {
    stop();
    if (shown !== Infinity) return nextIterate();
    shown = 0;
    draw();
  });
  byId("impact").addEventListener("click", () => { stop(); go(impactStep()); });
  byId("step").addEventListener("input", (event) => { stop(); go(Number(event.target.value)); });
  byId("follow").addEventListener("click", () => go(n));
  byId("reset").addEventListener("click", () => {
    stop();
    Object.assign(o, DEFAULTS, START);
    settingsChanged(false);
  });
  const choose = (event) => {
    const row = event.target.closest("tr[data-v0]");
    if (!row || (event.type === "keydown" && event.key !== "Enter")) return;
    stop();
    o.v0 = Number(row.dataset.v0);
    settingsChanged(false);
  };
  byId("speeds").addEventListener("click", choose);
  byId("speeds").addEventListener("keydown", choose);
  byId("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = name === "dark" ? "Light" : "Dark";
}

theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
connect();
settingsChanged(false);
