// Puts the page of one run together: stage, scrub bar, panel, keys. Tests drive it through `window.gusset`.
import { format, frameAt as indexAt, readRun } from "./data.js";
import { Plots } from "./plots.js";
import { Stage } from "./stage.js";

const get = (id) => document.getElementById(id);
const create = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

export function startView() {
  const run = readRun(get("run"), get("data"));
  const last = run.times.length - 1;
  const stage = new Stage(run, get("canvas"));
  const state = { frame: 0, playing: false, rate: 1, clock: 0, field: "", ready: false };

  const plots = run.probes
    ? new Plots(get("plots"), run.probes, run.phases, [run.times[0], run.times[last]], (t) => seek(t))
    : null;
  get("probes").hidden = !plots;

  // Theme: the system's, until the button is pressed.
  const system = matchMedia("(prefers-color-scheme: dark)");
  let dark = system.matches;
  const applyTheme = () => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    stage.background(getComputedStyle(document.documentElement).getPropertyValue("--stage").trim());
    plots?.forget();
    plots?.draw(run.times[state.frame]);
  };
  system.addEventListener("change", () => ((dark = system.matches), applyTheme()));
  get("theme").onclick = () => ((dark = !dark), applyTheme());

  const frameAt = (time) => indexAt(run.times, time);

  // The state at the moment when a phase begins is what the one before has made.
  const phaseAt = (time) => run.phases.filter((p) => p.start < time - 1e-9).at(-1)
    ?? run.phases.find((p) => p.start <= time + 1e-9);

  function setFrame(k, keepClock = false) {
    state.frame = Math.min(last, Math.max(0, Math.round(Number(k) || 0)));
    const time = run.times[state.frame];
    if (!keepClock) state.clock = time;
    stage.show(state.frame, state.field);
    stage.render();
    get("scrub").value = state.frame;
    get("time").textContent = `${time.toFixed(3)} s`;
    get("frame").textContent = `${state.frame * run.stride} / ${last * run.stride}`;
    const phase = phaseAt(time);
    get("phase").textContent = phase ? phase.name : "";
    for (const [k, entry] of [...get("phases").children].entries()) {
      entry.classList.toggle("now", run.phases[k] === phase);
    }
    plots?.draw(time);
  }
  const seek = (time) => (pause(), setFrame(frameAt(time)));

  function play() {
    if (last === 0) return;
    if (state.frame >= last) setFrame(0);
    state.playing = true;
    state.wall = undefined;
    get("play").textContent = "❚❚";
    get("play").title = "Pause (space)";
  }
  function pause() {
    state.playing = false;
    get("play").textContent = "▶";
    get("play").title = "Play (space)";
  }
  const toggle = () => (state.playing ? pause() : play());

  get("scrub").max = last;
  for (const phase of run.phases) {
    const entry = create("button", { textContent: phase.name, title: `${format(phase.start)} s` });
    entry.onclick = () => seek(phase.start);
    get("phases").append(entry);
    const share = (phase.start - run.times[0]) / (run.times[last] - run.times[0] || 1);
    if (share > 0 && share < 1) {
      const tick = create("span", { title: phase.name });
      tick.style.left = `${100 * share}%`;
      get("ticks").append(tick);
    }
  }
  get("phase-list").hidden = run.phases.length === 0;
  get("scrub").oninput = (e) => (pause(), setFrame(e.target.value));
  get("play").onclick = toggle;
  get("rate").onchange = (e) => (state.rate = Number(e.target.value));
  get("home").onclick = () => stage.home();
  get("wires").onchange = (e) => stage.wires(e.target.checked);
  get("see-through").onchange = (e) => stage.seeThrough(e.target.checked);
  get("see-through").parentElement.hidden = !run.bodies.some((body) => body.seeThrough);
  get("panel-toggle").onclick = () => {
    document.body.classList.toggle("closed");
    stage.resize();
  };

  run.bodies.forEach((body, i) => {
    const box = create("input", { type: "checkbox", checked: true });
    box.onchange = () => {
      stage.parts[i].object.visible = box.checked;
      stage.dirty = true;
    };
    const swatch = create("span", { className: "swatch" });
    swatch.style.background = body.colour;
    const count = body.vertices ? `${body.vertices}` : "";
    get("bodies").append(create("label", {}, box, swatch, create("span", { textContent: body.name }),
      create("small", { textContent: count })));
  });

  const select = get("field");
  for (const field of run.fields) {
    select.append(create("option", { value: field.name, textContent: field.name }));
  }
  select.parentElement.hidden = run.fields.length === 0;
  const legend = () => {
    const field = run.fields.find((f) => f.name === state.field);
    get("legend").hidden = !field;
    if (!field) return;
    const stops = field.bar.map((c) => `rgb(${c.join(",")})`);
    get("bar").style.background = `linear-gradient(to right, ${stops.join(",")})`;
    const [below, above] = field.beyond;
    get("low").textContent = `${below ? "≤ " : ""}${format(field.low)}`;
    get("high").textContent = `${above ? "≥ " : ""}${format(field.high)} ${field.unit}`;
    get("legend-name").textContent = field.name;
  };
  const colourBy = (name) => {
    state.field = name;
    select.value = name;
    legend();
    stage.show(state.frame, state.field);
  };
  select.onchange = () => colourBy(select.value);

  addEventListener("keydown", (e) => {
    if (e.target.matches("select") || e.ctrlKey || e.metaKey || e.altKey) return;
    const jump = e.shiftKey ? 10 : 1;
    const actions = {
      " ": toggle,
      ArrowRight: () => (pause(), setFrame(state.frame + jump)),
      ArrowLeft: () => (pause(), setFrame(state.frame - jump)),
      PageDown: () => seek(run.phases.find((p) => p.start > run.times[state.frame] + 1e-9)?.start
        ?? run.times[last]),
      PageUp: () => seek(run.phases.filter((p) => p.start < run.times[state.frame] - 1e-9).at(-1)?.start
        ?? run.times[0]),
      Home: () => (pause(), setFrame(0)),
      End: () => (pause(), setFrame(last)),
    };
    const action = actions[e.key];
    if (!action) return;
    e.preventDefault();
    e.target.blur?.();
    action();
  });
  addEventListener("resize", () => (stage.resize(), plots?.forget(), plots?.draw(run.times[state.frame])));

  function tick(now) {
    requestAnimationFrame(tick);
    if (state.playing) {
      const passed = state.wall === undefined ? 0 : Math.min(0.25, (now - state.wall) / 1000);
      state.wall = now;
      state.clock += passed * state.rate;
      const next = frameAt(state.clock);
      if (state.clock > run.times[last] + 0.4) {
        setFrame(0);
      } else if (next !== state.frame) {
        setFrame(next, true);
      }
    }
    stage.controls.update();
    if (stage.dirty) stage.render();
  }

  get("info").textContent = run.info;
  stage.resize();
  // A link may name where to start: view.html#frame=40&colour=speed&dark=1&lines=1
  const link = new URLSearchParams(location.hash.slice(1));
  if (link.has("dark")) dark = link.get("dark") !== "0";
  applyTheme();
  if (run.fields.some((f) => f.name === link.get("colour"))) state.field = link.get("colour");
  if (link.get("lines") === "1") get("wires").click();
  colourBy(state.field);
  setFrame(Number(link.get("frame") ?? 0) / run.stride);
  requestAnimationFrame(tick);
  state.ready = true;
  window.gusset = {
    get frame() { return state.frame; },
    frames: run.times.length,
    setFrame,
    get playing() { return state.playing; },
    set playing(on) { on ? play() : pause(); },
    colourBy,
    get ready() { return state.ready; },
  };
}
