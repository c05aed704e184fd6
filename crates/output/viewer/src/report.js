// A report: sections with several runs that play in step, and plots with a cursor at the time shown. Tests drive it through
// `window.gusset`.
import { frameAt, readRun } from "./data.js";
import { Stage, createRenderer } from "./stage.js";

// Seconds that the last frame stays before a section begins anew.
const REST = 0.6;

// One section: its runs, its control, its plots.
class Player {
  constructor(section, renderer) {
    this.near = false;
    this.section = section;
    this.renderer = renderer;
    this.runs = null;
    this.time = 0;
    this.playing = false;
    this.rate = 1;
    const find = (name) => section.querySelector(`.${name}`);
    this.button = find("play");
    this.track = find("scrub");
    this.label = find("time");
    [this.first, this.last] = [Number(section.dataset.from), Number(section.dataset.to)];
    this.time = this.first;
    this.cursors = [...section.querySelectorAll(".plot")].map((plot) => {
      const [from, to, left, right] = ["from", "to", "left", "right"].map((key) => Number(plot.dataset[key]));
      const cursor = document.createElement("i");
      plot.append(cursor);
      plot.onclick = (event) => {
        const box = plot.getBoundingClientRect();
        const share = ((event.clientX - box.left) / box.width - left) / (right - left);
        this.pause();
        this.seek(from + Math.min(1, Math.max(0, share)) * (to - from));
      };
      return { cursor, from, to, left, right };
    });
    this.button.onclick = () => (this.playing ? this.pause() : this.play());
    this.track.oninput = () => {
      this.pause();
      this.seek(this.first + Number(this.track.value) * (this.last - this.first));
    };
    find("rate").onchange = (event) => (this.rate = Number(event.target.value));
    this.seek(this.time);
  }

  // Reads the runs when the section comes near the window: a report may have many.
  load() {
    if (this.runs) return;
    this.runs = [...this.section.querySelectorAll("figure.run")].map((figure) => {
      const [description, data] = figure.querySelectorAll("script");
      const run = readRun(description, data);
      const stage = new Stage(run, figure.querySelector("canvas"), this.renderer);
      stage.resize();
      return { run, stage, frame: -1 };
    });
    for (const { stage } of this.runs) {
      stage.controls.addEventListener("change", () => {
        for (const other of this.runs) {
          if (other.stage !== stage && stage.turned) other.stage.follow(stage);
        }
      });
      stage.controls.addEventListener("start", () => (stage.turned = true));
      stage.controls.addEventListener("end", () => (stage.turned = false));
    }
    this.theme();
    this.seek(this.time);
  }

  theme() {
    const stage = getComputedStyle(document.documentElement).getPropertyValue("--stage").trim();
    for (const run of this.runs ?? []) run.stage.background(stage);
  }

  resize() {
    for (const { stage } of this.runs ?? []) stage.resize();
  }

  seek(time) {
    this.time = Math.min(this.last, Math.max(this.first, time));
    for (const entry of this.runs ?? []) {
      const frame = frameAt(entry.run.times, this.time);
      if (frame !== entry.frame) {
        entry.frame = frame;
        entry.stage.show(frame, "");
      }
    }
    this.label.textContent = `${this.time.toFixed(3)} s`;
    this.track.value = (this.time - this.first) / (this.last - this.first || 1);
    for (const { cursor, from, to, left, right } of this.cursors) {
      const share = (this.time - from) / (to - from || 1);
      cursor.hidden = share < 0 || share > 1;
      cursor.style.left = `${100 * (left + share * (right - left))}%`;
    }
  }

  play() {
    this.load();
    if (this.time >= this.last) this.seek(this.first);
    this.clock = this.time;
    this.wall = undefined;
    this.playing = true;
    this.button.textContent = "❚❚";
    this.button.title = "Pause";
  }

  pause() {
    this.playing = false;
    this.button.textContent = "▶";
    this.button.title = "Play";
  }

  tick(now) {
    if (this.playing) {
      const passed = this.wall === undefined ? 0 : Math.min(0.25, (now - this.wall) / 1000);
      this.wall = now;
      this.clock += passed * this.rate;
      if (this.clock > this.last + REST * this.rate) this.clock = this.first;
      this.seek(this.clock);
    }
    for (const { stage } of this.runs ?? []) {
      if (stage.copy && !this.near) continue;
      stage.controls.update();
      if (stage.dirty) stage.render();
    }
  }
}

export function startReport() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => {
    document.documentElement.dataset.theme = system.matches ? "dark" : "light";
    for (const player of players) player.theme();
  };
  const renderer = createRenderer(document.createElement("canvas"));
  const sections = [...document.querySelectorAll("section.runs")];
  const players = sections.map((section) => new Player(section, renderer));
  theme();
  system.addEventListener("change", theme);
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const player = players[sections.indexOf(target)];
      player.near = isIntersecting;
      if (isIntersecting) player.load();
    }
  }, { rootMargin: "300px" });
  sections.forEach((section) => watcher.observe(section));
  addEventListener("resize", () => players.forEach((player) => player.resize()));
  // A link may name a time: report.html#time=1.5
  const link = new URLSearchParams(location.hash.slice(1));
  if (link.has("time")) players.forEach((player) => player.seek(Number(link.get("time"))));
  const tick = (now) => {
    requestAnimationFrame(tick);
    players.forEach((player) => player.tick(now));
  };
  requestAnimationFrame(tick);
  window.gusset = { ready: true, players };
}
