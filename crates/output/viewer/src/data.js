// Reads what the page embeds: a JSON description and one base64 block of little-endian arrays.

// Decodes base64 piece by piece: a call on the whole string would hold it three times in memory.
function decodeBase64(text) {
  const clean = text.trim();
  const padding = clean.endsWith("==") ? 2 : clean.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((clean.length / 4) * 3 - padding);
  const piece = 1 << 20;
  let at = 0;
  for (let i = 0; i < clean.length; i += piece) {
    const part = atob(clean.slice(i, i + piece));
    for (let k = 0; k < part.length; k++) bytes[at++] = part.charCodeAt(k);
  }
  return bytes;
}

// From the element with the description and the one with the block, which is taken off the page.
export function readRun(description, data) {
  const run = JSON.parse(description.textContent);
  const { buffer } = decodeBase64(data.textContent);
  data.remove();
  const bytes = (offset, n) => new Uint8Array(buffer, offset, n);
  const words = (offset, n) => new Uint16Array(buffer, offset, n);
  for (const body of run.bodies) {
    const n = body.vertices;
    body.frames = body.moving ? run.times.length : Math.min(1, run.times.length);
    body.faces = new Uint32Array(buffer, body.faces.offset, body.faces.count * 3);
    body.quantised = words(body.positions, body.frames * n * 3);
    // Per vertex and frame, 0..255; absent for still bodies.
    for (const field of run.fields) {
      const offset = body.fields[field.name];
      (body.scalars ??= {})[field.name] = offset == null ? null : bytes(offset, body.frames * n);
    }
  }
  const { probes } = run;
  if (probes) {
    // Columns one after the other; what is not known is NaN.
    const columns = Math.max(...probes.plots.flatMap((plot) => plot.columns)) + 1;
    probes.values = Array.from({ length: columns },
      (_, c) => new Float32Array(buffer, probes.offset + 4 * c * probes.rows, probes.rows));
  }
  return run;
}

// Positions of a body in frame k, written into `out` (3 numbers a vertex).
export function positionsAt(body, k, out) {
  const frame = body.moving ? k : 0;
  const n = body.vertices * 3;
  const { low, step, quantised } = body;
  const at = frame * n;
  for (let i = 0; i < n; i += 3) {
    out[i] = low[0] + step[0] * quantised[at + i];
    out[i + 1] = low[1] + step[1] * quantised[at + i + 1];
    out[i + 2] = low[2] + step[2] * quantised[at + i + 2];
  }
}

// The values of a field in frame k, or null.
export function scalarsAt(body, name, k) {
  const values = body.scalars?.[name];
  return values ? values.subarray(k * body.vertices, (k + 1) * body.vertices) : null;
}

// Number with about three digits; of values that lie within `range` as many as tell them apart.
export function format(x, range) {
  if (x === 0) return "0";
  if (range > 0 && Math.abs(x) < 1e4 && range >= 1e-4) {
    return x.toFixed(Math.max(0, 2 - Math.floor(Math.log10(range))));
  }
  const size = Math.abs(x);
  if (size >= 0.01 && size < 1e4) {
    return x.toFixed(Math.max(0, 2 - Math.floor(Math.log10(size))));
  }
  return x.toExponential(1);
}

// Index of the last of some rising times at or before `time`; the first where there is none.
export function frameAt(times, time) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time + 1e-12) low = middle;
    else high = middle - 1;
  }
  return low;
}
