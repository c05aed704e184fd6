// Probe curves on small canvases, with a cursor at the time shown. Curves are drawn once and kept; a frame only moves
// the cursor and changes the numbers, so that playing stays smooth with long runs and many probes.
import { format } from "./data.js";

const HEIGHT = 96;
const PAD = { left: 8, right: 8, top: 20, bottom: 8 };
const HUES = ["accent", "#d6603c", "#3d69a0", "#c89628", "#845ea6", "#6f8f3c", "#5a6066"];

// Least and greatest of the finite values of some columns.
function range(columns) {
  let low = Infinity, high = -Infinity;
  for (const values of columns) {
    for (const v of values) {
      if (v < low) low = v;
      if (v > high && v < Infinity) high = v;
    }
  }
  return low <= high ? [low, high] : [0, 0];
}

// One canvas for each plot; `seek(time)` is called while the pointer is held on one.
export class Plots {
  constructor(parent, probes, phases, span, seek) {
    this.span = span;
    this.phases = phases.filter((p) => p.start > span[0] && p.start < span[1]);
    this.times = probes.values[0];
    this.plots = probes.plots.map(({ title, factor, columns, labels }) => {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-label", title);
      canvas.title = labels.length > 1 ? `${title}: ${labels.join(", ")}` : title;
      parent.append(canvas);
      const values = columns.map((c) => probes.values[c]);
      const [low, high] = range(values).map((v) => v * factor);
      const drag = (event) => {
        if (!(event.buttons & 1)) return;
        const box = canvas.getBoundingClientRect();
        const t = (event.clientX - box.left - PAD.left) / (box.width - PAD.left - PAD.right);
        seek(span[0] + Math.min(1, Math.max(0, t)) * (span[1] - span[0]));
      };
      canvas.addEventListener("pointerdown", (e) => {
        if (e.isTrusted) canvas.setPointerCapture(e.pointerId);
        drag(e);
      });
      canvas.addEventListener("pointermove", drag);
      return { title, factor, labels, canvas, values, low, high, kept: null };
    });
  }

  // Curves are drawn anew at the next `draw`: another theme or another size.
  forget() {
    for (const plot of this.plots) plot.kept = null;
  }

  // Index of the last row at or before a time; the first row where there is none.
  rowAt(time) {
    let low = 0, high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-6) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  draw(time) {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`);
    const ink = get("ink"), soft = get("soft"), accent = get("accent");
    const hue = (i) => (i === 0 ? accent : HUES[i % HUES.length]);
    const ratio = window.devicePixelRatio || 1;
    const row = this.rowAt(time);
    for (const plot of this.plots) {
      const { canvas } = plot;
      const width = canvas.parentElement.clientWidth;
      if (!width) continue;
      const pixels = Math.round(width * ratio);
      if (canvas.width !== pixels || !plot.kept) {
        canvas.width = pixels;
        canvas.height = HEIGHT * ratio;
        canvas.style.height = `${HEIGHT}px`;
        plot.kept = this.curves(plot, width, ratio, get("line"), soft, hue);
      }
      const right = width - PAD.right, bottom = HEIGHT - PAD.bottom;
      const c = canvas.getContext("2d");
      c.setTransform(1, 0, 0, 1, 0, 0);
      c.clearRect(0, 0, canvas.width, canvas.height);
      c.drawImage(plot.kept, 0, 0);
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      const length = this.span[1] - this.span[0] || 1;
      const x = PAD.left + ((time - this.span[0]) / length) * (right - PAD.left);
      c.strokeStyle = ink;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(x, PAD.top);
      c.lineTo(x, bottom);
      c.stroke();
      c.font = "11px system-ui, sans-serif";
      c.textBaseline = "alphabetic";
      c.fillStyle = ink;
      c.textAlign = "left";
      c.fillText(plot.title, PAD.left, 13, width * 0.6);
      c.textAlign = "right";
      const now = plot.values.map((values) => values[row]).filter(Number.isFinite);
      if (now.length) {
        const [low, high] = range([now]).map((v) => format(v * plot.factor, plot.high - plot.low));
        c.fillStyle = plot.values.length > 1 ? soft : accent;
        c.fillText(low === high ? low : `${low} … ${high}`, right, 13);
      }
    }
  }

  curves(plot, width, ratio, faint, soft, hue) {
    const kept = document.createElement("canvas");
    kept.width = Math.round(width * ratio);
    kept.height = HEIGHT * ratio;
    const c = kept.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const right = width - PAD.right, bottom = HEIGHT - PAD.bottom;
    const length = this.span[1] - this.span[0] || 1;
    const size = plot.high - plot.low || Math.abs(plot.high) || 1;
    const x = (t) => PAD.left + ((t - this.span[0]) / length) * (right - PAD.left);
    const y = (v) => bottom - ((v * plot.factor - plot.low) / size) * (bottom - PAD.top);
    c.strokeStyle = faint;
    c.lineWidth = 1;
    c.strokeRect(PAD.left + 0.5, PAD.top + 0.5, right - PAD.left - 1, bottom - PAD.top - 1);
    c.beginPath();
    for (const { start } of this.phases) {
      c.moveTo(x(start), PAD.top);
      c.lineTo(x(start), bottom);
    }
    c.stroke();
    c.lineWidth = plot.values.length > 3 ? 1 : 1.5;
    plot.values.forEach((values, i) => {
      c.strokeStyle = hue(i);
      c.beginPath();
      let pen = false;
      for (let k = 0; k < values.length; k++) {
        if (!Number.isFinite(values[k])) {
          pen = false;
        } else if (pen) {
          c.lineTo(x(this.times[k]), y(values[k]));
        } else {
          c.moveTo(x(this.times[k]), y(values[k]));
          pen = true;
        }
      }
      c.stroke();
    });
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "right";
    c.fillStyle = soft;
    c.fillText(format(plot.high, plot.high - plot.low), right - 4, PAD.top + 12);
    c.fillText(format(plot.low, plot.high - plot.low), right - 4, bottom - 4);
    return kept;
  }
}
