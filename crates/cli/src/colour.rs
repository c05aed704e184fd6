//! What colours the bodies of pictures.

use crate::arguments::ColourName;
use crate::failure::Failure;
use crate::gaps::VertexGaps;
use glam::DVec3;
use gusset_output::{ColourBy, ColourMap, RunReader, Scalars, Source as _, Stretch, stretch_reach};

/// Colours for these frames, with one scale for all.
pub(crate) fn colour(
    reader: &RunReader,
    name: ColourName,
    frames: &[usize],
) -> Result<ColourBy, Failure> {
    match name {
        ColourName::Body => return Ok(ColourBy::Body),
        ColourName::Speed => return Ok(ColourBy::Speed),
        ColourName::Gap | ColourName::Stretch | ColourName::Height => {}
    }
    let mut states = Vec::with_capacity(frames.len());
    for frame in frames {
        states.push(reader.frame(*frame)?);
    }
    match name {
        ColourName::Gap => gaps(reader, &states),
        ColourName::Stretch => stretches(reader, &states),
        _ => Ok(heights(reader, &states)),
    }
    .map(ColourBy::Values)
}

/// Values of one body, and of each body of a frame.
type Values = Vec<f32>;
type Frame = Vec<Vec<DVec3>>;

fn heights(reader: &RunReader, states: &[Frame]) -> Vec<Scalars> {
    let of = |state: &Frame| -> Vec<Values> {
        let bodies = reader.bodies().iter().zip(state);
        let of_body = |(body, x): (&gusset_output::BodyInfo, &Vec<DVec3>)| {
            if body.moving { x.iter().map(|p| p.z as f32).collect() } else { Vec::new() }
        };
        bodies.map(of_body).collect()
    };
    let values: Vec<Vec<Values>> = states.iter().map(of).collect();
    let bounds = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = (values.iter().flatten().flatten().map(|z| f64::from(*z)))
        .fold(bounds, |(l, h), z| (l.min(z), h.max(z)));
    let range = if low < high { [low, high] } else { [0.0, 1.0] };
    scalars("height [m]", range, ColourMap::Viridis, values)
}

fn gaps(reader: &RunReader, states: &[Frame]) -> Result<Vec<Scalars>, Failure> {
    let bodies = reader.bodies();
    let Some(mut gaps) = states.first().and_then(|state| VertexGaps::new(bodies, state)) else {
        return Err(Failure::bad_input(
            "nothing in this run has surfaces between which there are gaps",
        ));
    };
    let reach = (gaps.reach * 1e3) as f32;
    let shown = |gap: f32| if gap.is_finite() { gap * 1e3 } else { reach };
    let mut of = |state: &Frame| -> Vec<Values> {
        let of_body = |(gaps, body): (Option<Values>, &gusset_output::BodyInfo)| {
            let all = || vec![f32::NAN; body.vertices];
            let gaps = if body.moving { gaps.unwrap_or_else(all) } else { Vec::new() };
            gaps.into_iter().map(shown).collect()
        };
        gaps.of(state).into_iter().zip(bodies).map(of_body).collect()
    };
    let values = states.iter().map(&mut of).collect();
    Ok(scalars("gap [mm]", [0.0, reach.into()], ColourMap::Viridis, values))
}

fn stretches(reader: &RunReader, states: &[Frame]) -> Result<Vec<Scalars>, Failure> {
    let bodies: Vec<Option<Stretch>> =
        reader.bodies().iter().map(|b| if b.moving { Stretch::new(b) } else { None }).collect();
    if bodies.iter().all(Option::is_none) {
        return Err(Failure::bad_input(
            "no body of this run has a stress-free shape from which stretch could be measured: films have one, in \
             `<body>-rest.npy`",
        ));
    }
    let of = |state: &Frame| -> Vec<Values> {
        let of_body = |(stretch, x): (&Option<Stretch>, &Vec<DVec3>)| {
            stretch.as_ref().map_or_else(Vec::new, |stretch| stretch.of(x))
        };
        bodies.iter().zip(state).map(of_body).collect()
    };
    let values: Vec<Vec<Values>> = states.iter().map(of).collect();
    let reach = stretch_reach(values.iter().flatten().flatten().copied());
    Ok(scalars("stretch [%]", [-reach, reach], ColourMap::Diverging, values))
}

fn scalars(label: &str, range: [f64; 2], map: ColourMap, values: Vec<Vec<Values>>) -> Vec<Scalars> {
    values
        .into_iter()
        .map(|values| Scalars { label: label.to_owned(), range, map, values })
        .collect()
}
