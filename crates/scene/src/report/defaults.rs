//! The report of a folder that says nothing about it: every scene on its own, with the curves of its probes.

use super::read::{Scenes, refusal, scene_files};
use super::{
    Report, ReportCurve, ReportSection, ReportSeries, ReportedRun, SeriesSource, ShownUnit,
};
use crate::diagnostic::SceneError;
use crate::scene::Scene;
use std::path::Path;

/// A report of all scenes of a folder.
///
/// # Errors
/// With what is wrong with one of them, or where there are none.
pub(super) fn of_folder(folder: &Path) -> Result<Report, SceneError> {
    let files = scene_files(folder);
    if files.is_empty() {
        let message = "the folder has no scenes, which are files that end in .toml".to_owned();
        let help = "give a folder like scenes/demo, or a report file";
        return Err(refusal(folder, message, help));
    }
    let mut scenes = Scenes::default();
    let mut sections = Vec::new();
    for file in &files {
        let scene = scenes.add(file, &[])?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        sections.push(ReportSection {
            title: scenes.get(scene).title.clone(),
            about: String::new(),
            view: None,
            runs: vec![ReportedRun { name, scene, about: String::new() }],
            curves: curves(scenes.get(scene)),
            numbers: Vec::new(),
        });
    }
    let name = std::path::absolute(folder).ok();
    let name = name.as_deref().and_then(Path::file_name).unwrap_or(folder.as_os_str());
    let (scenes, warnings) = scenes.finish();
    Ok(Report {
        title: name.to_string_lossy().into_owned(),
        about: String::new(),
        reference: "reference".to_owned(),
        sections,
        scenes,
        warnings,
    })
}

/// One plot for each probe.
fn curves(scene: &Scene) -> Vec<ReportCurve> {
    let plot = |probe: &crate::probe::Probe| {
        let columns = probe.columns();
        let unit = columns.first().map_or("1", |column| column.unit);
        let series = columns.into_iter().map(|column| {
            let label = column.name.strip_prefix(&probe.name).unwrap_or_default();
            let label = label.trim_start_matches('.').to_owned();
            let source = SeriesSource::Probe { name: column.name, minus: None };
            ReportSeries { source, frames: false, label }
        });
        ReportCurve {
            title: probe.name.clone(),
            unit: ShownUnit {
                factor: 1.0,
                name: if unit == "1" { String::new() } else { unit.to_owned() },
            },
            series: series.collect(),
            runs: vec![0],
            window: [f64::NEG_INFINITY, f64::INFINITY],
            log: false,
        }
    };
    scene.probes.list.iter().map(plot).collect()
}
