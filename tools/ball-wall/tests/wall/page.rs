//! The page: its numbers are the engine's, and its controls do what they say.

use gusset_ball_wall::Verdict;
use gusset_ball_wall::page::{Start, render};
use gusset_ball_wall::row::Row;

use crate::browser::{chromium, node};

const START: Start = Start {
    v0: 5.0,
    h: 0.01,
    k: 1e6,
    kappa: 1e4,
    dhat: 1e-3,
    mass: 1.0,
    wall: 0.503,
    thickness: 0.02,
};

#[test]
fn it_stands_alone() {
    let page = render(&START);
    for outside in ["http:", "https:", "src=", "<link", "@import", "url(\"", "fetch(", "/*START*/"]
    {
        let found = page.replace("http://www.w3.org", "").contains(outside);
        assert!(!found, "the page has `{outside}`");
    }
}

#[test]
fn its_solver_gives_the_rows_of_the_engine() {
    let engine = crate::rows::engine();
    let asked = serde_json::to_string(&engine).unwrap();
    let script = format!(
        r#"{}
        const rows = {asked}.map((row) => {{
          const o = {{ ...DEFAULTS, v0: row.v0, h: row.h_s, k: row.k_pen ?? 0 }};
          const run = throwBall(o, row.mode);
          return {{
            ...row,
            steps_allowed: stepsAllowed(o.h),
            result: run.through ? "through" : "stopped",
            xmax_minus_wall_m: run.furthest - o.wall,
            max_newton_iterations: run.mostIterations,
            impact_step_index: run.impact,
            x_final_m: run.x,
            v_final_m_s: run.v,
          }};
        }});
        console.log(JSON.stringify(rows));"#,
        include_str!("../../page/solver.js")
    );
    let Some(printed) = node("its_solver_gives_the_rows_of_the_engine", &script) else { return };
    let page: Vec<Row> = serde_json::from_str(&printed).unwrap();
    assert_eq!(page.len(), engine.len());
    for (p, e) in page.iter().zip(&engine) {
        assert_eq!(p.result, e.result, "{e:?}");
        assert_eq!(p.steps_allowed, e.steps_allowed, "{e:?}");
        assert_eq!(p.max_newton_iterations, e.max_newton_iterations, "{e:?}");
        assert_eq!(p.impact_step_index, e.impact_step_index, "{e:?}");
        for (p, e) in [
            (p.xmax_minus_wall_m, e.xmax_minus_wall_m),
            (p.x_final_m, e.x_final_m),
            (p.v_final_m_s, e.v_final_m_s),
        ] {
            assert!((p - e).abs() <= 1e-12, "{p} and {e}");
        }
    }
    assert!(page.iter().any(|row| row.result == Verdict::Through));
}

/// What a visitor does, and what the page then says.
const VISIT: &str = r#"<script>
window.addEventListener("load", () => {
  const said = [];
  window.addEventListener("error", (event) => said.push("error: " + event.message));
  const id = (name) => document.getElementById(name);
  const tell = (what, name) => said.push(what + ": " + id(name).textContent);
  const slide = (name, value) => { id(name).value = value; id(name).dispatchEvent(new Event("input")); };
  const drag = (name, from, to) => {
    const box = id(name).getBoundingClientRect();
    const fire = (type, share) => id(name).dispatchEvent(new PointerEvent(type, {
      pointerId: 1, clientX: box.left + share * box.width, clientY: box.top + 20 }));
    fire("pointerdown", from); fire("pointermove", to); fire("pointerup", to);
  };
  tell("penalty", "verdict-pen");
  tell("barrier", "verdict-ipc");
  tell("step", "show-step");
  drag("land-ipc", 0.9, 0.6);
  tell("dragged penalty", "one-pen");
  tell("dragged barrier", "one-ipc");
  drag("land-pen", 0.6, 0.16);
  tell("dragged back", "one-ipc");
  id("follow").click();
  tell("followed", "one-ipc");
  id("iterate").click();
  id("iterate").click();
  said.push("iterates shown: " + id("iterates-ipc").querySelectorAll("tbody tr").length);
  slide("k", 8);
  tell("k of 1e8", "verdict-pen");
  slide("h", -3);
  tell("h of 1 ms", "verdict-pen");
  id("speeds").querySelector("[data-v0='50']").click();
  tell("50 m/s", "verdict-ipc");
  said.push("furthest: " + id("verdict-ipc").dataset.furthest);
  slide("dhat", -2);
  slide("kappa", 3);
  tell("other barrier", "show-dhat");
  id("reset").click();
  id("theme").click();
  said.push("theme: " + document.documentElement.dataset.theme);
  id("play").click();
  setTimeout(() => {
    said.push("playing: " + id("play").textContent + " " + (Number(id("step").value) > 3));
    setTimeout(() => {
      said.push("played: " + id("play").textContent + " " + id("step").value);
      const report = document.createElement("pre");
      report.id = "report";
      report.textContent = said.join("\n");
      document.body.append(report);
    }, 12000);
  }, 600);
});
</script></body>"#;

#[test]
fn its_controls_work_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, render(&START).replace("</body>", VISIT)).unwrap();
    let profile = folder.path().join("profile");
    let Some(document) = chromium("its_controls_work_in_a_browser", &path, &profile) else {
        return;
    };
    let report = document.split("<pre id=\"report\">").nth(1).expect("the visit came to its end");
    let report = report.split("</pre>").next().unwrap();
    let micro = '\u{b5}';
    let wanted = [
        "penalty: penalty passes through".to_owned(),
        format!("barrier: barrier stops 24 {micro}m in front"),
        "step: step 10 of 79, t = 100 ms".to_owned(),
        format!("followed: 24 {micro}m in front of the wall, 7 iterations"),
        "iterates shown: 1".to_owned(),
        "k of 1e8: penalty passes through".to_owned(),
        format!("h of 1 ms: penalty stops 30.1 {micro}m deep"),
        format!("50 m/s: barrier stops 0.213 {micro}m in front"),
        "furthest: -2.13441570".to_owned(),
        "other barrier: 10 mm".to_owned(),
        "playing: Pause true".to_owned(),
        "played: Play 79".to_owned(),
    ];
    for line in wanted {
        assert!(report.lines().any(|found| found.starts_with(&line)), "no `{line}` in\n{report}");
    }
    assert!(!report.contains("error"), "{report}");
}
