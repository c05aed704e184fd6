// The two energy landscapes of one step, and their magnifiers, as SVG text.

const FIGURE = { width: 560, height: 300, left: 52, right: 14, top: 14, bottom: 40 };

const SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

/** A straight map from [a, b] to [p, q]; `back` undoes it. */
function linear(a, b, p, q) {
  const map = (x) => p + (x - a) / (b - a) * (q - p);
  map.back = (y) => a + (y - p) / (q - p) * (b - a);
  map.domain = [a, b];
  return map;
}

/** Round numbers between a and b, about `count` of them. */
function ticks(a, b, count) {
  const raw = (b - a) / count;
  const decade = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * decade).find((s) => s >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b + 1e-9 * step; i++) found.push(i * step || 0);
  return found;
}

/** A number in few digits; a power of ten where it would be long. */
function digits(value, count = 3) {
  const rounded = Number(value.toPrecision(count));
  const size = Math.abs(rounded);
  if (size !== 0 && (size >= 1e4 || size < 1e-3)) {
    const [mantissa, exponent] = rounded.toExponential().split("e");
    const power = "10" + [...String(Number(exponent))].map((c) => c === "-" ? "\u207b" : SUPERSCRIPTS[c]).join("");
    return (mantissa === "1" ? power : mantissa === "-1" ? `-${power}` : `${mantissa}\u2009\u00b7\u2009${power}`).replace("-", "\u2212");
  }
  return String(rounded).replace("-", "\u2212");
}

/** A length in the unit that suits it. */
function length(metres, count = 3) {
  const size = Math.abs(metres);
  if (size >= 0.1) return `${digits(metres, count)} m`;
  if (size >= 1e-3) return `${digits(metres * 1e3, count)} mm`;
  if (size >= 1e-7) return `${digits(metres * 1e6, count)} \u00b5m`;
  return `${digits(metres * 1e9, count)} nm`;
}

const at = (x) => x.toFixed(2);

function text(x, y, content, more = "") {
  return `<text x="${at(x)}" y="${at(y)}" ${more}>${content}</text>`;
}

/** Axes around the plot: ticks are [position, label] pairs in drawing units. */
function axes(xTicks, yTicks, xLabel, yLabel) {
  const { width, height, left, right, top, bottom } = FIGURE;
  const floor = height - bottom;
  let out = `<g class="axes">`;
  for (const [x, label] of xTicks) {
    out += `<path d="M${at(x)} ${top}V${floor}"/>` + text(x, floor + 15, label, `text-anchor="middle"`);
  }
  for (const [y, label] of yTicks) {
    out += `<path d="M${left} ${at(y)}H${width - right}"/>` + text(left - 6, y + 4, label, `text-anchor="end"`);
  }
  out += text((left + width - right) / 2, height - 6, xLabel, `text-anchor="middle" class="label"`);
  out += text(12, (top + floor) / 2, yLabel, `text-anchor="middle" class="label" transform="rotate(-90 12 ${(top + floor) / 2})"`);
  return out + "</g>";
}

/** The wall between two drawing positions, hatched. */
function wallBand(from, to, id) {
  const { top, height, bottom } = FIGURE;
  return `<defs><pattern id="${id}" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <path d="M0 0V7" class="hatch"/></pattern></defs>
    <rect class="wall" x="${at(from)}" y="${top}" width="${at(to - from)}" height="${height - bottom - top}"/>
    <rect fill="url(#${id})" x="${at(from)}" y="${top}" width="${at(to - from)}" height="${height - bottom - top}"/>
    <path class="face" d="M${at(from)} ${top}V${height - bottom}"/>`;
}

function clipped(id, content) {
  const { left, right, top, bottom, width, height } = FIGURE;
  return `<defs><clipPath id="${id}"><rect x="${left}" y="${top}" width="${width - left - right}" height="${height - top - bottom}"/></clipPath></defs>
    <g clip-path="url(#${id})">${content}</g>`;
}

function polyline(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${at(x)} ${at(y)}`).join("");
}

/** Where the curve is sampled: evenly, and ever closer to the front face, where the barrier rises. */
function samples(o, method, low, high) {
  const xs = [];
  const end = method === "ipc" ? Math.min(high, o.wall) : high;
  for (let i = 0; i <= 400; i++) xs.push(low + (end - low) * i / 400);
  for (let e = 0; e <= 60; e++) {
    const d = (high - low) * 10 ** (-e * 0.25);
    xs.push(o.wall - d);
    if (method === "pen") xs.push(o.wall + d, o.wall + o.thickness - d, o.wall + o.thickness + d);
  }
  if (method === "pen") xs.push(o.wall + 0.5 * o.thickness, o.wall + o.thickness);
  const inside = (x) => x >= low && x <= end && (method === "pen" || x < o.wall);
  return xs.filter(inside).sort((a, b) => a - b);
}

/** Start and iterates shown so far. */
function path(step, shown) {
  return [step.start, ...step.iterates.slice(0, shown).map((it) => it.x)];
}

/** The way that Newton took: a hop per iteration, the last point filled. */
function hops(points, finished) {
  let out = "";
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1];
    const [x1, y1] = points[i];
    const lift = Math.min(46, 10 + 0.22 * Math.hypot(x1 - x0, y1 - y0));
    out += `<path class="hop" d="M${at(x0)} ${at(y0)}Q${at((x0 + x1) / 2)} ${at(Math.min(y0, y1) - lift)} ${at(x1)} ${at(y1)}"/>`;
  }
  points.forEach(([x, y], i) => {
    const kind = i === 0 ? "start" : i === points.length - 1 && finished ? "reached" : "iterate";
    out += `<circle class="${kind}" cx="${at(x)}" cy="${at(y)}" r="${kind === "reached" ? 5.5 : 4}"/>`;
  });
  return out;
}

/** Marks of the local minima. */
function diamonds(points) {
  return points.map(([x, y]) => `<path class="minimum" d="M${at(x)} ${at(y - 8)}l7 8l-7 8l-7 -8z"/>`).join("");
}

/** One landscape: inertia, contact and their sum near the wall, the target to drag, Newton's way. */
function landscape(o, method, step, shown, range, ceiling) {
  const { width, height, left, right, top, bottom } = FIGURE;
  const x = linear(range[0], range[1], left, width - right);
  const y = linear(-0.05 * ceiling, ceiling, height - bottom, top + 8);
  const value = (p) => energy(o, method, p, step.target);
  // Far above the frame a line would only strain the renderer.
  const height_of = (e) => Math.max(y(Math.min(e, 1e4 * ceiling)), -2000);
  const xs = samples(o, method, range[0], range[1]);
  const total = xs.map((p) => [x(p), height_of(value(p))]);
  const wide = Array.from({ length: 201 }, (_, i) => range[0] + (range[1] - range[0]) * i / 200);
  const inertia = wide.map((p) => [x(p), height_of(o.mass * (p - step.target) ** 2 / (2 * o.h * o.h))]);
  const front = x(o.wall);
  const back = x(o.wall + o.thickness);
  let curve = polyline(total);
  // The rise to infinity is logarithmic: on this scale it is a line at the face.
  if (method === "ipc") curve += `V${top}`;
  const point = (p) => [x(p), height_of(value(p))];
  const done = shown >= step.iterates.length;
  const where = ticks((range[0] - o.wall) * 1e3, (range[1] - o.wall) * 1e3, 7);
  const content = wallBand(front, back, `hatch-${method}`)
    + (method === "ipc" ? `<rect class="forbidden" x="${at(front)}" y="${top}" width="${at(Math.max(0, width - right - front))}" height="${height - bottom - top}"/>` : "")
    + `<path class="inertia" d="${polyline(inertia)}"/>`
    + `<path class="sum" d="${curve}"/>`
    + (method === "ipc" ? text(front + 7, top + 14, "to infinity", `class="note"`) : "")
    + diamonds(minima(o, method, step.target).map(point))
    + hops(path(step, shown).map(point), done)
    + `<path class="target" d="M${at(x(step.target))} ${top + 20}V${height - bottom}"/>`;
  const knob = Math.min(Math.max(x(step.target), left), width - right);
  return {
    x,
    svg: axes(
      where.map((mm) => [x(o.wall + mm * 1e-3), digits(mm)]),
      ticks(0, ceiling, 4).map((e) => [y(e), digits(e)]),
      "position behind the front face [mm]",
      "energy [J]",
    ) + clipped(`clip-${method}`, content)
      + `<g class="knob"><rect x="${at(knob - 15)}" y="${top}" width="30" height="20" rx="10"/>`
      + text(knob, top + 14.5, "x\u0303", `text-anchor="middle"`) + "</g>",
  };
}

/** The barrier's last stretch: energy above the minimum over the distance to the wall, which shrinks to the right. */
function barrierMagnifier(o, step, shown) {
  const { width, height, left, right, top, bottom } = FIGURE;
  const lowest = barrierMinimum(o, step.target);
  const rest = o.wall - lowest;
  const far = Math.max(o.wall - step.start, rest, o.dhat) * 1.6;
  const near = Math.min(...path(step, shown).map((p) => o.wall - p), rest, o.dhat) / 30;
  const x = linear(Math.log10(far), Math.log10(near), left, width - right);
  const place = (d) => x(Math.log10(d));
  const floor = energy(o, "ipc", lowest, step.target);
  const above = (d) => Math.max(0, energy(o, "ipc", o.wall - d, step.target) - floor);
  // Stretches small differences, so that the well shows beside the whole way down to it.
  const unit = Math.max(above(near) / 12, 1e-300);
  const bend = (e) => Math.asinh(e / unit);
  const most = Math.max(above(far), above(near));
  const y = linear(-0.06 * bend(most), bend(most) * 1.04, height - bottom, top);
  const curve = [];
  for (let i = 0; i <= 300; i++) {
    const d = 10 ** x.back(left + (width - right - left) * i / 300);
    curve.push([place(d), y(bend(above(d)))]);
  }
  const decades = [];
  for (let e = Math.ceil(Math.log10(near)); e <= Math.log10(far); e++) decades.push(e);
  const every = Math.ceil(decades.length / 8);
  const levels = [0];
  for (let e = Math.floor(Math.log10(most)); e > Math.log10(most) - 7; e--) {
    const level = 10 ** e;
    const previous = levels.length > 1 ? levels[levels.length - 1] : Infinity;
    if (y(bend(level)) < y(0) - 18 && (previous === Infinity || y(bend(level)) > y(bend(previous)) + 18)) levels.push(level);
  }
  const edge = place(o.dhat);
  const content = `<rect class="active" x="${at(edge)}" y="${top}" width="${at(Math.max(0, width - right - edge))}" height="${height - top - bottom}"/>`
    + `<path class="sum" d="${polyline(curve)}"/>`
    + diamonds([[place(rest), y(0)]])
    + hops(path(step, shown).map((p) => [place(o.wall - p), y(bend(above(o.wall - p)))]), shown >= step.iterates.length)
    + (edge < width - right - 70 ? text(Math.max(edge, left) + 5, top + 14, "barrier acts", `class="note"`) : "");
  return axes(
    decades.filter((e) => e % every === 0).map((e) => [x(e), length(10 ** e)]),
    levels.map((e) => [y(bend(e)), digits(e)]),
    "distance left to the wall (logarithmic)",
    "energy above minimum [J]",
  ) + clipped("clip-ipc-near", content);
}

/** The wall from near: what a penalty's landscape looks like inside. */
function penaltyMagnifier(o, step, shown) {
  const { width, height, left, right, top, bottom } = FIGURE;
  const low = o.wall - 0.35 * o.thickness;
  const high = o.wall + 1.35 * o.thickness;
  const x = linear(low, high, left, width - right);
  const xs = samples(o, "pen", low, high);
  const value = (p) => energy(o, "pen", p, step.target);
  const es = xs.map(value);
  const least = Math.min(...es);
  const most = Math.max(...es);
  const spare = 0.08 * (most - least) || 1;
  const y = linear(least - spare, most + spare, height - bottom, top);
  const inside = (p) => p >= low && p <= high;
  const point = (p) => [x(p), y(value(p))];
  const content = wallBand(x(o.wall), x(o.wall + o.thickness), "hatch-near")
    + `<path class="middle" d="M${at(x(o.wall + 0.5 * o.thickness))} ${top}V${height - bottom}"/>`
    + text(x(o.wall + 0.24 * o.thickness), top + 14, "\u2190 pushed back", `class="note" text-anchor="middle"`)
    + text(x(o.wall + 0.76 * o.thickness), top + 14, "pushed out \u2192", `class="note" text-anchor="middle"`)
    + `<path class="sum" d="${polyline(xs.map(point))}"/>`
    + diamonds(minima(o, "pen", step.target).filter(inside).map(point))
    + hops(path(step, shown).map(point), shown >= step.iterates.length);
  return axes(
    ticks((low - o.wall) * 1e3, (high - o.wall) * 1e3, 7).map((mm) => [x(o.wall + mm * 1e-3), digits(mm)]),
    ticks(least, most, 4).map((e) => [y(e), digits(e)]),
    "position behind the front face [mm]",
    "energy [J]",
  ) + clipped("clip-pen-near", content);
}

/** Range of positions and energies that both landscapes share. */
function landscapeFrame(o, steps) {
  const positions = steps.flatMap((s) => [s.start, s.target]);
  const reach = o.wall + o.thickness;
  let low = Math.min(o.wall - 0.4 * o.thickness, ...positions);
  let high = Math.max(reach + 0.4 * o.thickness, ...positions);
  const spare = 0.1 * (high - low);
  low -= spare;
  high += spare;
  const moving = 0.5 * o.mass * o.v0 * o.v0;
  const ceiling = 1.25 * Math.max(0.1 * moving, ...steps.map((s) => o.mass * (s.start - s.target) ** 2 / (2 * o.h * o.h)));
  return { range: [low, high], ceiling };
}
