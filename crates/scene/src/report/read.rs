//! From a report file to a checked [`Report`].

use super::series::{Scope, series, shown};
use super::{
    Report, ReportCurve, ReportNumber, ReportScene, ReportSection, ReportSeries, ReportedRun,
    SeriesStatistic, Wanted, defaults,
};
use crate::config::{
    CurveConfig, NumberConfig, NumberStatistic, PerRun, ReportRunConfig, ReportSectionConfig,
    ReportTop, SeriesConfig,
};
use crate::diagnostic::{Diagnostic, SceneError, Severity};
use crate::document;
use crate::probe::si;
use crate::scene::{Scene, load, tables, units};
use crate::section::{Problems, Section, Value};
use crate::source::{Source, Sources};
use crate::suggest;
use glam::DVec3;
use gusset_units::{Time, Units};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use toml::de::DeValue;

/// The file of a folder that says what its report shows.
const REPORT: &str = "report.toml";

/// Reads what is to be reported: `path` is a folder of scenes, or a report file.
///
/// # Errors
/// With everything that is wrong with the report file, or with a scene that it names.
pub fn load_report(path: &Path) -> Result<Report, SceneError> {
    let file = if path.is_dir() { path.join(REPORT) } else { path.to_path_buf() };
    if path.is_dir() && !file.exists() {
        return defaults::of_folder(path);
    }
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let help = "give a folder of scenes, with or without a report.toml, or a report file";
        refusal(&file, format!("the report file can't be read: {error}"), help)
    })?;
    let folder = file.parent().unwrap_or_else(|| Path::new(""));
    let name = file.display().to_string();
    let mut sources = Sources::default();
    sources.push(name, &text);
    let mut problems = Problems::new(&sources);
    let root = document::parse(&text, 0, &mut problems);
    let report = (problems.errors() == 0).then(|| {
        let top = Section { table: root, span: 0..0, what: "the report".to_owned() };
        read(top, text.len(), folder, &mut problems)
    });
    let good = problems.errors() == 0;
    let diagnostics = problems.into_diagnostics();
    match report.transpose()?.flatten() {
        Some(report) if good => {
            let warnings = report.warnings.into_iter().chain(diagnostics).collect();
            Ok(Report { warnings, ..report })
        }
        _ => Err(SceneError { diagnostics }),
    }
}

/// An error about a whole file.
pub(super) fn refusal(file: &Path, message: String, help: &str) -> SceneError {
    let source = Source { name: file.display().to_string(), text: String::new() };
    SceneError {
        diagnostics: vec![Diagnostic {
            severity: Severity::Error,
            message,
            source: Arc::new(source),
            span: None,
            help: Some(help.to_owned()),
        }],
    }
}

/// The scenes of a report, each read once.
#[derive(Default)]
pub(super) struct Scenes {
    plans: Vec<ReportScene>,
    read: Vec<Scene>,
    warnings: Vec<Diagnostic>,
}

impl Scenes {
    /// Index of a scene with some keys set.
    ///
    /// # Errors
    /// With what is wrong with the scene.
    pub(super) fn add(&mut self, path: &Path, set: &[String]) -> Result<usize, SceneError> {
        let known = self.plans.iter().position(|plan| plan.path == path && plan.set == set);
        if let Some(known) = known {
            return Ok(known);
        }
        let mut scene = load(path, set)?;
        self.warnings.append(&mut scene.warnings);
        self.plans.push(ReportScene {
            path: path.to_path_buf(),
            set: set.to_vec(),
            folder: folder_name(path, set),
            resolved: scene.resolved.clone(),
            steps: scene.steps,
            dt: scene.settings.dt,
        });
        self.read.push(scene);
        Ok(self.plans.len() - 1)
    }

    pub(super) fn get(&self, index: usize) -> &Scene {
        &self.read[index]
    }

    pub(super) fn finish(self) -> (Vec<ReportScene>, Vec<Diagnostic>) {
        (self.plans, self.warnings)
    }
}

/// Name of a run folder: the scene's, and what is set in it.
fn folder_name(path: &Path, set: &[String]) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_alphanumeric() || "-_.=".contains(c) { c } else { '_' };
    let set = set.iter().map(|set| set.chars().map(plain).collect::<String>());
    std::iter::once(stem.into_owned()).chain(set).collect::<Vec<_>>().join("+")
}

/// `None` where something is wrong, which `problems` then says.
fn read(
    mut top: Section<'_>,
    length: usize,
    folder: &Path,
    problems: &mut Problems<'_>,
) -> Result<Option<Report>, SceneError> {
    let sections = tables(&mut top, "section", problems);
    let units = units(&top);
    let config: Option<ReportTop> = top.read_beside(&["section"], problems);
    if sections.is_empty() && problems.errors() == 0 {
        let help = "add a table: [[section]] with [[section.run]]".to_owned();
        problems.error_help(&(length..length), "the report has no section", help);
    }
    let mut scenes = Scenes::default();
    let mut read = Vec::new();
    for section in sections {
        let mut reader = Reader { folder, units: &units, scenes: &mut scenes, problems };
        read.extend(reader.section(section)?);
    }
    let (Some(config), 0) = (config, problems.errors()) else { return Ok(None) };
    let name = std::path::absolute(folder).ok().and_then(|f| Some(f.file_name()?.to_owned()));
    let name = name.map_or_else(|| "Report".to_owned(), |name| name.to_string_lossy().into_owned());
    let (scenes, warnings) = scenes.finish();
    Ok(Some(Report {
        title: config.title.unwrap_or(name),
        about: config.about,
        reference: config.reference,
        sections: read,
        scenes,
        warnings,
    }))
}

struct Reader<'a, 'p> {
    folder: &'a Path,
    units: &'a Units,
    scenes: &'a mut Scenes,
    problems: &'a mut Problems<'p>,
}

impl Reader<'_, '_> {
    fn section(&mut self, mut section: Section<'_>) -> Result<Option<ReportSection>, SceneError> {
        let title = section.table.get("title").and_then(|v| v.get_ref().as_str());
        section.what = title.map_or_else(|| section.what.clone(), |t| format!("[[section]] `{t}`"));
        let [runs, curves, numbers] =
            ["run", "curve", "number"].map(|key| tables(&mut section, key, self.problems));
        let config: Option<ReportSectionConfig> =
            section.read_beside(&["run", "curve", "number"], self.problems);
        if runs.is_empty() && self.problems.errors() == 0 {
            let message = format!("{} has no run", section.what);
            let help = "add a table: [[section.run]] with `name` and `scene`".to_owned();
            self.problems.error_help(&section.span, message, help);
        }
        let count = runs.len();
        let mut reported: Vec<ReportedRun> = Vec::new();
        for run in runs {
            let run = self.run(&run, &reported)?;
            reported.extend(run);
        }
        // What names runs or probes can't be checked without all of them.
        if reported.len() < count {
            return Ok(None);
        }
        let curves = curves.into_iter().filter_map(|curve| self.curve(curve, &reported)).collect();
        let numbers =
            numbers.into_iter().filter_map(|number| self.number(number, &reported)).collect();
        let Some(config) = config else { return Ok(None) };
        let view = config.view.map(|corners| {
            corners.map(|corner| DVec3::from_array(corner.map(|length| length.si(self.units))))
        });
        if view.is_some_and(|[low, high]| !low.cmplt(high).all()) {
            let message = "`view` is no box: each number of its second corner must be above that of its first";
            self.problems.error(&section.span_of("view"), message);
        }
        let (title, about) = (config.title, config.about);
        Ok(Some(ReportSection { title, about, view, runs: reported, curves, numbers }))
    }

    fn run(
        &mut self,
        section: &Section<'_>,
        before: &[ReportedRun],
    ) -> Result<Option<ReportedRun>, SceneError> {
        let Some(config) = section.read::<ReportRunConfig>(self.problems) else { return Ok(None) };
        let ReportRunConfig { name, scene, set, about } = config;
        if before.iter().any(|run| run.name == name) {
            let message = format!("two runs of the section are called `{name}`");
            self.problems.error(&section.span_of("name"), message);
        }
        let path = self.folder.join(&scene);
        if !path.is_file() {
            let message = format!("there is no scene `{scene}` in {}", self.folder.display());
            let files = scene_files(self.folder);
            let names = files.iter().filter_map(|file| file.file_name()?.to_str());
            let help = suggest::help(&scene, names);
            self.problems.error_help(&section.span_of("scene"), message, help);
            return Ok(None);
        }
        let scene = self.scenes.add(&path, &set)?;
        Ok(Some(ReportedRun { name, scene, about }))
    }

    /// The runs that are named, by index; all where none are.
    fn named(
        &mut self,
        names: Option<&[String]>,
        key: &str,
        section: &Section<'_>,
        runs: &[ReportedRun],
    ) -> Vec<usize> {
        let Some(names) = names else { return (0..runs.len()).collect() };
        let mut found = Vec::new();
        for name in names {
            match runs.iter().position(|run| run.name == *name) {
                Some(run) => found.push(run),
                None => self.no_run(name, key, section, runs),
            }
        }
        found
    }

    fn no_run(&mut self, name: &str, key: &str, section: &Section<'_>, runs: &[ReportedRun]) {
        let message = format!("the section has no run `{name}`");
        let help = suggest::help(name, runs.iter().map(|run| run.name.as_str()));
        self.problems.error_help(&section.span_of(key), message, help);
    }

    /// The series in `of`: one table or several.
    fn series(
        &mut self,
        of: Option<Value<'_>>,
        section: &Section<'_>,
        runs: &[usize],
        reported: &[ReportedRun],
    ) -> Option<Vec<(ReportSeries, &'static str)>> {
        let Some(of) = of else {
            let message = format!("{} lacks `of`", section.what);
            let help = "`of` says what it shows: { probe = \"height\" }".to_owned();
            self.problems.error_help(&section.span, message, help);
            return None;
        };
        let span = of.span();
        let list: Vec<Value<'_>> = match of.into_inner() {
            DeValue::Array(list) => list.into_iter().collect(),
            one => vec![Spanned::new(span, one)],
        };
        let scenes = runs.iter().map(|run| self.scenes.get(reported[*run].scene)).collect();
        let scope = Scope { scenes, units: self.units };
        let mut all = Vec::new();
        for value in list {
            let part = Section::new(value, format!("`of` of {}", section.what), self.problems)?;
            let config: SeriesConfig = part.read(self.problems)?;
            all.push(series(config, &part, &scope, self.problems)?);
        }
        Some(all)
    }

    fn curve(&mut self, mut section: Section<'_>, reported: &[ReportedRun]) -> Option<ReportCurve> {
        name_by("title", &mut section);
        let of = section.take("of");
        let config: CurveConfig = section.read_beside(&["of"], self.problems)?;
        let runs = self.named(config.runs.as_deref(), "runs", &section, reported);
        let all = self.series(of, &section, &runs, reported)?;
        let Some((_, unit)) = all.first() else {
            self.problems.error(&section.span, format!("{} shows nothing", section.what));
            return None;
        };
        if let Some((_, other)) = all.iter().find(|(_, other)| other != unit) {
            let message =
                format!("{} shows something in {unit} and something in {other}", section.what);
            self.problems.error(&section.span, message);
        }
        let unit = shown(config.unit.as_deref(), unit, &section, self.problems)?;
        let window = self.window(None, config.from, config.to, &section)?;
        let series = all.into_iter().map(|(series, _)| series).collect();
        Some(ReportCurve { title: config.title, unit, series, runs, window, log: config.log })
    }

    fn number(
        &mut self,
        mut section: Section<'_>,
        reported: &[ReportedRun],
    ) -> Option<ReportNumber> {
        name_by("name", &mut section);
        let of = section.take("of");
        let config: NumberConfig = section.read_beside(&["of"], self.problems)?;
        let runs = self.named(config.runs.as_deref(), "runs", &section, reported);
        let mut all = self.series(of, &section, &runs, reported)?;
        if all.len() != 1 {
            let message = format!("{} is of one series, found {}", section.what, all.len());
            self.problems.error(&section.span, message);
            return None;
        }
        let (series, si_unit) = all.remove(0);
        let statistic = self.statistic(&config, si_unit, &section)?;
        let si_unit = if statistic.is_time() { "s" } else { si_unit };
        let unit = shown(config.unit.as_deref(), si_unit, &section, self.problems)?;
        let window = self.window(config.at, config.from, config.to, &section)?;
        let numbers = [
            ("reference", &config.reference),
            ("within", &config.within),
            ("at_least", &config.at_least),
            ("at_most", &config.at_most),
        ];
        let known = |name: &str| runs.iter().any(|run| reported[*run].name == name);
        let notes = config.note.iter().flat_map(PerRun::names).map(|name| ("note", name));
        let names = numbers.iter().filter_map(|(key, each)| Some((*key, each.as_ref()?)));
        let names = names.flat_map(|(key, each)| each.names().map(move |name| (key, name)));
        for (key, name) in names.chain(notes).filter(|(_, name)| !known(name)) {
            self.no_run(name, key, &section, reported);
        }
        let mut wanted = BTreeMap::new();
        for run in runs {
            let name = &reported[run].name;
            let of = |each: &Option<PerRun<f64>>| each.as_ref().and_then(|e| e.of(name)).copied();
            let note = config.note.as_ref().and_then(|note| note.of(name)).cloned();
            wanted.insert(
                run,
                Wanted {
                    reference: of(&config.reference),
                    within: of(&config.within),
                    at_least: of(&config.at_least),
                    at_most: of(&config.at_most),
                    note: note.unwrap_or_default(),
                },
            );
        }
        Some(ReportNumber { name: config.name, series, statistic, window, unit, wanted })
    }

    fn statistic(
        &mut self,
        config: &NumberConfig,
        si_unit: &str,
        section: &Section<'_>,
    ) -> Option<SeriesStatistic> {
        type With = fn(f64) -> SeriesStatistic;
        let (with, name): (With, &str) = match config.statistic {
            NumberStatistic::FirstBelow => (SeriesStatistic::FirstBelow, "first-below"),
            NumberStatistic::FirstAbove => (SeriesStatistic::FirstAbove, "first-above"),
            NumberStatistic::LastBelow => (SeriesStatistic::LastBelow, "last-below"),
            NumberStatistic::LastAbove => (SeriesStatistic::LastAbove, "last-above"),
            plain => {
                if config.level.is_some() {
                    let message =
                        "`level` means nothing without a statistic such as \"first-below\"";
                    self.problems.error(&section.span_of("level"), message);
                }
                return Some(match plain {
                    NumberStatistic::Mean => SeriesStatistic::Mean,
                    NumberStatistic::Min => SeriesStatistic::Min,
                    NumberStatistic::Max => SeriesStatistic::Max,
                    NumberStatistic::Sum => SeriesStatistic::Sum,
                    NumberStatistic::Range => SeriesStatistic::Range,
                    NumberStatistic::Deviation => SeriesStatistic::Deviation,
                    _ => SeriesStatistic::Last,
                });
            }
        };
        let Some(level) = &config.level else {
            let message = format!("the statistic \"{name}\" needs a `level`");
            self.problems.error(&section.span_of("statistic"), message);
            return None;
        };
        match si(level, si_unit, self.units) {
            Ok(level) => Some(with(level)),
            Err(error) => {
                self.problems.error(&section.span_of("level"), format!("`level`: {error}"));
                None
            }
        }
    }

    /// Times that count (s); open ends are infinite.
    fn window(
        &mut self,
        at: Option<Time>,
        from: Option<Time>,
        to: Option<Time>,
        section: &Section<'_>,
    ) -> Option<[f64; 2]> {
        let time = |t: Time| t.si(self.units);
        if at.is_some() && (from.is_some() || to.is_some()) {
            let message = "give either `at`, or `from` and `to`";
            self.problems.error(&section.span_of("at"), message);
            return None;
        }
        let window = match at {
            Some(at) => [time(at); 2],
            None => [from.map_or(f64::NEG_INFINITY, time), to.map_or(f64::INFINITY, time)],
        };
        if window[0] > window[1] {
            let message =
                format!("it ends at {} s, before it begins at {} s", window[1], window[0]);
            self.problems.error(&section.span_of("to"), message);
            return None;
        }
        Some(window)
    }
}

/// Messages call a table by what it says under a key.
fn name_by(key: &str, section: &mut Section<'_>) {
    let name = section.table.get(key).and_then(|v| v.get_ref().as_str()).map(str::to_owned);
    if let Some(name) = name {
        let header = section.what.split(' ').next().unwrap_or_default();
        section.what = format!("{header} `{name}`");
    }
}

/// The files of a folder that may be scenes, by name.
pub(super) fn scene_files(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml") && path.is_file())
        .filter(|path| path.file_name().is_some_and(|name| name != REPORT))
        .collect();
    files.sort();
    files
}
