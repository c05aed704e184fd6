// Probe curves on small canvases, with a cursor at the time shown.
import { format } from "./data.js";

const HEIGHT = 96;
const PAD = { left: 8, right: 8, top: 20, bottom: 8 };

// One canvas for each column; `seek(time)` is called while the pointer is held on one.
export class Plots {
  constructor(parent, probes, span, seek) {
    this.span = span;
    this.plots = probes.columns.slice(1).map((name, i) => {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-label", name);
      parent.append(canvas);
      const plot = { name, canvas, times: probes.values[0], values: probes.values[i + 1] };
      const finite = plot.values.filter((v) => v !== null);
      plot.low = finite.reduce((a, b) => Math.min(a, b), Infinity);
      plot.high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
      const drag = (event) => {
        if (!(event.buttons & 1)) return;
        const box = canvas.getBoundingClientRect();
        const t = (event.clientX - box.left - PAD.left) / (box.width - PAD.left - PAD.right);
        seek(span[0] + Math.min(1, Math.max(0, t)) * (span[1] - span[0]));
      };
      canvas.addEventListener("pointerdown", (e) => (canvas.setPointerCapture(e.pointerId), drag(e)));
      canvas.addEventListener("pointermove", drag);
      return plot;
    });
  }

  draw(time) {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink"), faint = style.getPropertyValue("--line");
    const accent = style.getPropertyValue("--accent"), soft = style.getPropertyValue("--soft");
    const ratio = window.devicePixelRatio || 1;
    for (const plot of this.plots) {
      const { canvas } = plot;
      const width = canvas.parentElement.clientWidth;
      if (!width) continue;
      if (canvas.width !== Math.round(width * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = HEIGHT * ratio;
        canvas.style.height = `${HEIGHT}px`;
      }
      const c = canvas.getContext("2d");
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      c.clearRect(0, 0, width, HEIGHT);
      const right = width - PAD.right, bottom = HEIGHT - PAD.bottom;
      const length = this.span[1] - this.span[0] || 1;
      const range = plot.high - plot.low || Math.abs(plot.high) || 1;
      const x = (t) => PAD.left + ((t - this.span[0]) / length) * (right - PAD.left);
      const y = (v) => bottom - ((v - plot.low) / range) * (bottom - PAD.top);
      c.strokeStyle = faint;
      c.lineWidth = 1;
      c.strokeRect(PAD.left + 0.5, PAD.top + 0.5, right - PAD.left - 1, bottom - PAD.top - 1);
      c.strokeStyle = accent;
      c.lineWidth = 1.5;
      c.beginPath();
      let pen = false, now = null;
      for (let i = 0; i < plot.values.length; i++) {
        const v = plot.values[i];
        if (v === null) {
          pen = false;
          continue;
        }
        if (plot.times[i] <= time + 1e-9 || now === null) now = v;
        if (pen) c.lineTo(x(plot.times[i]), y(v));
        else c.moveTo(x(plot.times[i]), y(v));
        pen = true;
      }
      c.stroke();
      c.strokeStyle = ink;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(x(time), PAD.top);
      c.lineTo(x(time), bottom);
      c.stroke();
      c.font = "11px system-ui, sans-serif";
      c.textBaseline = "alphabetic";
      c.fillStyle = ink;
      c.textAlign = "left";
      c.fillText(plot.name, PAD.left, 13, width * 0.65);
      c.textAlign = "right";
      if (now !== null) {
        c.fillStyle = accent;
        c.fillText(format(now), right, 13);
        c.fillStyle = soft;
        c.fillText(format(plot.high), right - 4, PAD.top + 12);
        c.fillText(format(plot.low), right - 4, bottom - 4);
      }
    }
  }
}
