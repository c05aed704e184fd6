//! The tool as a user runs it.

use std::process::{Command, Output};

use gusset_ball_wall::plan::Plan;
use gusset_ball_wall::row::Rows;

fn ball_wall(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ball-wall")).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = ball_wall(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn without_options_it_prints_the_table_of_the_article() {
    assert_eq!(printed(&[]), include_str!("../data/table.txt"));
}

#[test]
fn json_has_the_rows_and_their_units() {
    let text = printed(&["--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["units"]["k_pen"], "N/m");
    let keys =
        |row: &serde_json::Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let article: serde_json::Value =
        serde_json::from_str(include_str!("../data/rows.json")).unwrap();
    assert_eq!(keys(&json["rows"][0]), keys(&article[0]));
    let rows = Rows::of(&Plan::article().throws().unwrap()).unwrap();
    assert_eq!(text, serde_json::to_string_pretty(&rows).unwrap() + "\n");
}

#[test]
fn options_choose_the_throws() {
    let json = printed(&["--json", "--v0", "7", "--h", "2ms", "--k", "1e5", "--dhat", "2 mm"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["k_pen"], 1e5);
    assert_eq!(rows[1]["dhat"], 2e-3);
    assert_eq!(rows[1]["steps_allowed"], 400);
    let trace = printed(&["--v0", "5", "--method", "barrier"]);
    assert!(trace.contains("never closer than 23.971 um"), "{trace}");
    assert!(printed(&["--v0", "5", "--method", "penalty"]).contains("passed through in step 10"));
}

#[test]
fn bad_input_ends_with_2_and_says_what_is_wrong() {
    for (args, wanted) in [
        (&["--h", "0"][..], "--h"),
        (&["--h", "-1"], "--h"),
        (&["--h", "5 m"], "s"),
        (&["--v0", "nan"], "--v0"),
        (&["--thickness", "-2 mm"], "--thickness"),
        (&["--dhat", "0", "--v0", "1"], "--dhat"),
        (&["--steps", "0"], "--steps"),
        (&["--h", "1e-12"], "--steps"),
        (&["--html", "page.html", "--k", "-1"], "--k"),
        (&["--what"], "--what"),
    ] {
        let output = ball_wall(args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(wanted), "{args:?}: {told}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_page_that_cannot_be_written_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("page.html");
    let output = ball_wall(&["--html", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("page.html"));
}
