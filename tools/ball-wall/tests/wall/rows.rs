//! The 72 throws.

use gusset_ball_wall::plan::Plan;
use gusset_ball_wall::row::{Row, Rows};

/// The article's code at full precision.
pub(crate) fn article() -> Vec<Row> {
    serde_json::from_str(include_str!("../data/rows.json")).unwrap()
}

/// The same throws by the engine.
pub(crate) fn engine() -> Vec<Row> {
    Rows::of(&Plan::article().throws().unwrap()).unwrap().rows
}

#[test]
fn all_rows_are_those_of_the_article() {
    let (article, engine) = (article(), engine());
    assert_eq!(article.len(), 72);
    assert_eq!(engine.len(), 72);
    for (a, e) in article.iter().zip(&engine) {
        let at = format!("{:?} v0 = {} h = {} k = {:?}", a.mode, a.v0, a.h_s, a.k_pen);
        let exact = |row: &Row| Row {
            xmax_minus_wall_m: 0.0,
            x_final_m: 0.0,
            v_final_m_s: 0.0,
            ..row.clone()
        };
        assert_eq!(exact(a), exact(e), "{at}");
        let close = |name: &str, a: f64, e: f64| {
            assert!((a - e).abs() <= 1e-9, "{at}: {name} is {e}, {a} in the article");
        };
        close("gap", a.xmax_minus_wall_m, e.xmax_minus_wall_m);
        close("final position", a.x_final_m, e.x_final_m);
        close("final speed", a.v_final_m_s, e.v_final_m_s);
    }
}
