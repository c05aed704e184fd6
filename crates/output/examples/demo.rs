//! Draws a wavy cloth over a sphere: `cargo run --release -p gusset-output --example demo -- FOLDER`.

use std::error::Error;
use std::path::PathBuf;

use glam::DVec3;
use gusset_output::{
    BodyInfo, Frames, HtmlOptions, Phase, PictureOptions, Plot, Role, Series, Table, contact_sheet,
    picture, spread, write_html,
};

/// A cloth of `n` x `n` quads that hangs over a sphere at the origin and flutters, with loose spheres.
fn demo(n: usize, frames: usize) -> Frames {
    let side = n + 1;
    let index = |i: usize, j: usize| (i * side + j) as u32;
    let mut faces = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let [p, q, r, t] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
            if (i + j) % 2 == 0 {
                faces.extend([[p, q, r], [p, r, t]]);
            } else {
                faces.extend([[p, q, t], [q, r, t]]);
            }
        }
    }
    let cloth = BodyInfo::new("cloth", Role::Film, side * side, faces);
    let mut balls = BodyInfo::new("balls", Role::Spheres, 3, Vec::new());
    balls.radii = vec![0.07, 0.05, 0.04];
    let mut ball = BodyInfo::new("ball", Role::Spheres, 1, Vec::new());
    ball.radii = vec![0.15];
    ball.moving = false;
    let floor = BodyInfo::new("floor", Role::Obstacle, 4, vec![[0, 1, 2], [0, 2, 3]]);
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let ground = corners.map(|[x, y]| DVec3::new(x, y, -0.43)).to_vec();
    let mut positions = Vec::new();
    for k in 0..frames {
        let phase = k as f64 / frames as f64;
        let mut points = Vec::new();
        for i in 0..side {
            for j in 0..side {
                let (u, v) = (i as f64 / n as f64 - 0.5, j as f64 / n as f64 - 0.5);
                let (r, a) = (u.hypot(v), v.atan2(u));
                let hang = phase.min(0.5) * 2.0;
                let arc = r.min(0.155 * std::f64::consts::FRAC_PI_2 * hang.max(0.05));
                let bent = 0.155 * (arc / 0.155).sin();
                let rest = r - arc;
                let wave = (a * 8.0 + phase * 6.0).cos();
                let out = bent + rest * (1.0 - 0.78 * hang) + 0.16 * rest * wave * hang;
                let z = 0.155 * (arc / 0.155).cos() - rest * 0.9 * hang
                    + 0.02 * (9.0 * u + 20.0 * phase).sin() * (1.0 - hang);
                points.push(DVec3::new(out * a.cos(), out * a.sin(), z));
            }
        }
        let fall = |x: f64, y: f64, r: f64| DVec3::new(x, y, (0.3 - 1.2 * phase).max(-0.43 + r));
        let balls = vec![fall(0.5, -0.1, 0.07), fall(0.3, -0.42, 0.05), fall(0.62, -0.3, 0.04)];
        positions.push(vec![points, balls, vec![DVec3::ZERO], ground.clone()]);
    }
    let times = (0..frames).map(|k| k as f64 * 0.01).collect();
    Frames {
        title: "demo".to_owned(),
        bodies: vec![cloth, balls, ball, floor],
        times,
        phases: vec![
            Phase { start: 0.0, name: "fall".into() },
            Phase { start: 0.3, name: "hang".into() },
        ],
        positions,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let frames = demo(64, 61);
    let mut options = PictureOptions::default();
    picture(&frames, 45, &options)?.save_png(&folder.join("demo.png"))?;
    options.colour = gusset_output::ColourBy::Speed;
    options.dark = true;
    (options.width, options.height, options.samples) = (480, 320, 2);
    contact_sheet(&frames, &spread(61, 9), 3, &options)?.save_png(&folder.join("sheet.png"))?;
    let mut probes = Table { columns: vec!["time [s]".into(), "lowest [m]".into()], rows: vec![] };
    for (time, frame) in frames.times.iter().zip(&frames.positions) {
        let lowest = frame[0].iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        probes.rows.push(vec![*time, lowest]);
    }
    let curve = |name: &str, b: usize| {
        let height = |k: usize| {
            let points = &frames.positions[k][b];
            points.iter().map(|p| p.z).sum::<f64>() / points.len() as f64
        };
        let points = (0..frames.times.len()).map(|k| (frames.times[k], height(k))).collect();
        Series { name: name.to_owned(), points, colour: None }
    };
    let plot = Plot {
        title: "Mean height".to_owned(),
        y_label: "height [m]".to_owned(),
        series: vec![curve("cloth", 0), curve("balls", 1)],
        ..Plot::default()
    };
    std::fs::write(folder.join("plot.svg"), plot.svg()?)?;
    let html = HtmlOptions::default();
    write_html(&frames, Some(&probes), None, &html, &folder.join("demo.html"))?;
    Ok(())
}
