//! `gusset new-energy`: a crate with an energy and its tool, copied from the template of a checkout.

use crate::arguments::NewEnergyArguments;
use crate::console::Console;
use crate::failure::{Exit, Failure, Outcome};
use gusset_energy::registry;
use std::path::{Path, PathBuf};

/// What is copied of the template.
const COPIED: [&str; 5] =
    ["Cargo.toml", "src/lib.rs", "src/main.rs", "tests/spring.rs", "scene.toml"];

/// Copies the template under another name.
pub(crate) fn command(arguments: &NewEnergyArguments, console: &mut Console<'_>) -> Outcome {
    let name = arguments.name.as_str();
    if !kebab(name) {
        return Err(Failure::bad_input(format_args!(
            "`{name}` is no name of a kind: lower-case words joined by hyphens are, like `bending-spring`"
        )));
    }
    if let Some(kind) = registry().get(name) {
        return Err(Failure::bad_input(format_args!(
            "there is a kind of energy `{name}` already, in {}",
            kind.package
        )));
    }
    let energies = arguments.root.join("energies");
    let (from, to) = (energies.join("template"), energies.join(name));
    if to.exists() {
        return Err(Failure::bad_input(format_args!("{} exists already", to.display())));
    }
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for part in COPIED {
        let source = from.join(part);
        let text = std::fs::read_to_string(&source).map_err(|error| {
            Failure::bad_input(format_args!(
                "the template can't be read: {error}: {}; say with --root where Gusset's source is",
                source.display()
            ))
        })?;
        files.push((to.join(part.replace("spring", name)), renamed(&text, name)));
    }
    for (path, text) in &files {
        write(path, text)?;
        console.line(path.display());
    }
    console.message(format_args!(
        "next: write your formula in energies/{name}/src/lib.rs, test it with `cargo test --release -p \
         gusset-{name}`, and use it: `cargo run --release -p gusset-{name} -- run energies/{name}/scene.toml`"
    ));
    Ok(Exit::Done)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| Failure::failed(format_args!("cannot write {}: {error}", path.display())))
}

/// The template's text with everything called after `name`.
fn renamed(text: &str, name: &str) -> String {
    let camel: String = name.split('-').map(capital).collect();
    text.replace("gusset-template", &format!("gusset-{name}"))
        .replace("gusset-spring", &format!("gusset-{name}"))
        .replace("gusset_template", &format!("gusset_{}", name.replace('-', "_")))
        .replace("\"spring\"", &format!("\"{name}\""))
        .replace("energies/template", &format!("energies/{name}"))
        .replace("Spring", &camel)
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Lower-case words of letters and digits, each beginning with a letter, joined by hyphens.
fn kebab(name: &str) -> bool {
    name.split('-').all(|word| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case() {
        for good in ["spring", "bending-spring", "spring2"] {
            assert!(kebab(good), "{good}");
        }
        for bad in ["", "Spring", "a--b", "-a", "a-", "2d", "a_b", "a/b", "ü"] {
            assert!(!kebab(bad), "{bad}");
        }
    }

    #[test]
    fn everything_is_renamed() {
        let text = "name = \"gusset-template\"\nname = \"gusset-spring\"\nuse gusset_template as _;\n\
                    const KIND: &str = \"spring\"; struct Spring;";
        assert_eq!(
            renamed(text, "soft-net"),
            "name = \"gusset-soft-net\"\nname = \"gusset-soft-net\"\nuse gusset_soft_net as _;\n\
             const KIND: &str = \"soft-net\"; struct SoftNet;"
        );
    }
}
