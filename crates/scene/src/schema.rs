//! JSON Schema of scene files, from the types that read them and the registry, so that editors complete and check them.

use crate::build::COMMON;
use crate::config::{
    BodyConfig, ContactConfig, CurveConfig, DescentConfig, NamedMaterial, NumberConfig,
    OutputConfig, ProbeConfig, ReportRunConfig, ReportSectionConfig, ReportTop, RequireConfig,
    SeriesConfig, SolverConfig, TargetConfig, Top, with_kind,
};
use gusset_energy::Registry;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The schema of a whole scene file, with the kinds of energy that `registry` knows.
pub fn schema(registry: &Registry) -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut root = Top::json_schema(&mut generator);
    let sections = [
        ("body", list::<BodyConfig>(&mut generator, "The bodies, each with a [[body]] header.")),
        ("material", list::<NamedMaterial>(&mut generator, "Materials that bodies name.")),
        ("contact", one::<ContactConfig>(&mut generator)),
        ("solver", solvers(&mut generator)),
        ("output", one::<OutputConfig>(&mut generator)),
        ("probe", list::<ProbeConfig>(&mut generator, "What is measured after every step.")),
        ("require", list::<RequireConfig>(&mut generator, "Conditions without which a run stops.")),
    ];
    let target = targets(&mut generator);
    let mut definitions: Map<String, Value> = generator.take_definitions(true);
    let kinds = definitions.get_mut("Probe").and_then(|probe| probe["oneOf"].as_array_mut());
    for kind in kinds.into_iter().flatten() {
        kind["properties"]["target"] = target.clone();
    }
    let kinds: Vec<Value> = registry
        .iter()
        .map(|kind| energy(kind.name, kind.about, (kind.schema)(), &mut definitions))
        .collect();
    let energies = json!({
        "type": "array",
        "description": "Energies besides inertia, which every body has, and contact.",
        "items": { "oneOf": kinds },
    });

    let object = root.ensure_object();
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, section) in sections {
            properties.insert(name.to_owned(), section);
        }
        properties.insert("energy".to_owned(), energies);
    }
    object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    object.insert("title".to_owned(), json!("Gusset scene"));
    object.insert("description".to_owned(), json!("A scene file of Gusset, in TOML."));
    object.insert("$defs".to_owned(), Value::Object(definitions));
    root.into()
}

/// The schema of a report file.
pub fn report_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut root = ReportTop::json_schema(&mut generator);
    let mut section: Value = ReportSectionConfig::json_schema(&mut generator).into();
    let series: Value = generator.subschema_for::<SeriesConfig>().into();
    let mut curve: Value = CurveConfig::json_schema(&mut generator).into();
    let mut number: Value = NumberConfig::json_schema(&mut generator).into();
    curve["properties"]["of"] = json!({
        "description": "What it shows of each run: one series, or a list.",
        "anyOf": [series, { "type": "array", "items": series }],
    });
    number["properties"]["of"] = series;
    for table in [&mut curve, &mut number] {
        if let Some(required) = table["required"].as_array_mut() {
            required.push("of".into());
        }
    }
    section["properties"]["run"] =
        list::<ReportRunConfig>(&mut generator, "Its runs, side by side.");
    section["properties"]["curve"] =
        json!({ "type": "array", "description": "Its plots.", "items": curve });
    section["properties"]["number"] =
        json!({ "type": "array", "description": "The lines of its table.", "items": number });
    section["required"] = json!(["run"]);
    let definitions = generator.take_definitions(true);
    let object = root.ensure_object();
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        let about = "Runs that belong together, each with a [[section]] header.";
        let sections = json!({ "type": "array", "description": about, "items": section });
        properties.insert("section".to_owned(), sections);
    }
    object.insert("required".to_owned(), json!(["section"]));
    object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    object.insert("title".to_owned(), json!("Gusset report"));
    object.insert("description".to_owned(), json!("A report file of Gusset, in TOML."));
    object.insert("$defs".to_owned(), Value::Object(definitions));
    root.into()
}

/// Newton's keys, whose `kind` may be absent, or those of block descent.
fn solvers(generator: &mut SchemaGenerator) -> Value {
    let mut newton = with_kind(
        SolverConfig::json_schema(generator),
        "newton",
        "The global Newton solver; the default.",
    );
    if let Some(required) = newton.ensure_object().get_mut("required").and_then(Value::as_array_mut)
    {
        required.retain(|key| key != "kind");
    }
    let descent = DescentConfig::json_schema(generator);
    let vbd = with_kind(descent, "vbd", "Vertex block descent.");
    let about = "How each step is solved: by Newton's method, or by block descent.";
    json!({ "description": about, "oneOf": [newton, vbd] })
}

fn one<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().into()
}

fn list<T: JsonSchema>(generator: &mut SchemaGenerator, about: &str) -> Value {
    let items = generator.subschema_for::<T>();
    json!({ "type": "array", "description": about, "items": items })
}

/// The `target` of a probe: one, or a list.
fn targets(generator: &mut SchemaGenerator) -> Value {
    let one: Value = generator.subschema_for::<TargetConfig>().into();
    json!({
        "description": "What the probe is to reach; the summary at the end of a run tells.",
        "anyOf": [one, { "type": "array", "items": one }],
    })
}

/// The schema of a kind's `[[energy]]` table. Its definitions move to the scene's.
fn energy(name: &str, about: &str, schema: Schema, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = with_kind(schema, name, about);
    let object = schema.ensure_object();
    object.remove("$schema");
    if let Some(Value::Object(own)) = object.remove("$defs") {
        // Types that several kinds share have one name and one text; another text under that name is another type.
        let mut renamed = Vec::new();
        for (key, value) in own {
            match definitions.get(&key) {
                Some(present) if *present == value => {}
                Some(_) => renamed.push((key.clone(), format!("{name}-{key}"), value)),
                None => {
                    definitions.insert(key, value);
                }
            }
        }
        let names: Vec<(String, String)> = renamed
            .iter()
            .map(|(old, new, _)| (format!("#/$defs/{old}"), format!("#/$defs/{new}")))
            .collect();
        for (_, new, mut value) in renamed {
            rename(&mut value, &names);
            definitions.insert(new, value);
        }
        for value in object.values_mut() {
            rename(value, &names);
        }
    }
    let text = |about: &str| json!({ "type": "string", "description": about });
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        let [_, body, label] = COMMON;
        properties.insert(body.to_owned(), text("Name of the body that it acts on."));
        properties.insert(label.to_owned(), text("What messages call it."));
    }
    schema.into()
}

fn rename(value: &mut Value, names: &[(String, String)]) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(reference) if key == "$ref" => {
                        if let Some((_, new)) =
                            names.iter().find(|(old, _)| *old == reference.replace("%20", " "))
                        {
                            new.clone_into(reference);
                        }
                    }
                    other => rename(other, names),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| rename(value, names)),
        _ => {}
    }
}
