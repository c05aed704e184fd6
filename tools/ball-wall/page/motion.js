// The ball in motion: one lane a method on a common axis, as SVG text.

const LANES = { width: 1160, height: 232, left: 16, right: 16, lane: 78, top: 14 };

/** What the lanes show: both runs at step `n` with `shown` Newton iterates of it. */
function lanes(o, runs, n, shown) {
  const { width, left, right, lane, top } = LANES;
  const furthest = Math.max(o.wall + o.thickness, runs.pen.x, runs.ipc.x);
  const nearest = Math.min(0, runs.pen.x, runs.ipc.x);
  const spare = 0.05 * (furthest - nearest);
  const x = linear(Math.max(nearest, -0.25 * o.wall) - spare, furthest + 1.6 * spare, left, width - right);
  const floor = top + 2 * lane + 10;
  const front = x(o.wall);
  // A thin wall on a long way still has to be seen.
  const thick = Math.max(x(o.wall + o.thickness) - front, 3);
  let out = `<defs><pattern id="hatch-lane" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V7" class="hatch"/></pattern></defs>`;
  out += `<g class="axes">`;
  for (const p of ticks(...x.domain, 9)) {
    out += `<path d="M${at(x(p))} ${top}V${floor}"/>` + text(x(p), floor + 15, digits(p), `text-anchor="middle"`);
  }
  out += text(width / 2, floor + 34, "position [m]", `text-anchor="middle" class="label"`) + "</g>";
  out += `<rect class="wall" x="${at(front)}" y="${top}" width="${at(thick)}" height="${2 * lane + 10}"/>
    <rect fill="url(#hatch-lane)" x="${at(front)}" y="${top}" width="${at(thick)}" height="${2 * lane + 10}"/>
    <path class="face" d="M${at(front)} ${top}V${floor}"/>`;
  out += ballLane(runs.pen, "pen", "penalty", n, shown, x, top + lane / 2);
  out += ballLane(runs.ipc, "ipc", "barrier", n, shown, x, top + 10 + 1.5 * lane);
  return out;
}

/** The step of a run at `n`; a run that ended stays at its last. */
function stepAt(run, n) {
  return run.steps[Math.min(n, run.steps.length - 1)];
}

function ballLane(run, method, name, n, shown, x, y) {
  const radius = 11;
  const step = stepAt(run, n);
  const ended = n >= run.steps.length;
  const points = path(step, ended ? Infinity : shown);
  const now = points[points.length - 1];
  let out = `<g class="${method}"><path class="track" d="M${LANES.left} ${y + radius}H${LANES.width - LANES.right}"/>`;
  out += text(LANES.left + 4, y - 20, name, `class="lane"`);
  const trail = run.steps.slice(Math.max(0, Math.min(n, run.steps.length - 1) - 250), n + 1);
  for (const s of trail) out += `<circle class="trail" cx="${at(x(s.start))}" cy="${y + radius}" r="2"/>`;
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [x(points[i - 1]), x(points[i])];
    const lift = Math.min(30, 6 + Math.abs(b - a) * 0.35);
    out += `<path class="hop" d="M${at(a)} ${y}Q${at((a + b) / 2)} ${at(y - lift)} ${at(b)} ${y}"/>`;
  }
  if (!ended) {
    const ghost = x(step.target);
    out += `<circle class="ghost" cx="${at(ghost - radius)}" cy="${y}" r="${radius}"/>`
      + text(ghost - radius, y - 15, "x\u0303", `text-anchor="middle" class="ghost-label"`);
  }
  // The particle is the foremost point of the ball.
  out += `<circle class="ball" cx="${at(x(now) - radius)}" cy="${y}" r="${radius}"/></g>`;
  return out;
}
