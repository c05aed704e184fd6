//! "Did you mean": the nearest of the names that would have been right.

use std::collections::BTreeSet;

/// The candidate that is most like `found`, if any is like it at all.
pub(crate) fn nearest<'a>(
    found: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let found = normal(found);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((likeness(&found, &normal(candidate))?, candidate)))
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| candidate)
}

/// Likeness from 0 to 1; `None` where a suggestion would be a guess.
fn likeness(a: &str, b: &str) -> Option<f64> {
    let longest = a.chars().count().max(b.chars().count());
    let distance = strsim::damerau_levenshtein(a, b);
    if distance * 3 <= longest {
        return Some(1.0 - distance as f64 / longest as f64);
    }
    // One within the other: `youngs-modulus` and `young`, `tol` and `tolerance`.
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let within = short.len() >= 3 && (long.starts_with(short) || long.ends_with(short));
    within.then(|| 0.5 * short.len() as f64 / long.len() as f64)
}

/// Case and word separators don't matter.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', ' '], "-")
}

/// "did you mean `x`? (known: `x`, `y`)", or only the second part.
pub(crate) fn help<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    const SHOWN: usize = 24;
    let mut known: Vec<&str> = known.into_iter().collect();
    let mut seen = BTreeSet::new();
    known.retain(|name| seen.insert(*name));
    if known.is_empty() {
        return None;
    }
    let mut list =
        known.iter().take(SHOWN).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if known.len() > SHOWN {
        list = format!("{list}, ... {} in all", known.len());
    }
    Some(match nearest(found, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`? (known: {list})"),
        None => format!("known: {list}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_find_their_way() {
        let keys = ["young", "poisson", "thickness", "density", "area_density", "tolerance"];
        for (found, wanted) in [
            ("yuong", Some("young")),
            ("youngs_modulus", Some("young")),
            ("poisson_ratio", Some("poisson")),
            ("Area-Density", Some("area_density")),
            ("tol", Some("tolerance")),
            ("colour", None),
            ("x", None),
        ] {
            assert_eq!(nearest(found, keys), wanted, "{found}");
        }
    }
}
