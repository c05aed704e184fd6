//! The registry: which kinds of energy this binary knows.

use crate::site::{BuildError, Site, Terms};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use toml::de::ValueDeserializer;

/// What a scene says of an energy, and how that becomes stencils.
///
/// The type's fields are the keys of the scene's `[[energy]]` table (with `#[serde(deny_unknown_fields)]`); their doc
/// comments and unit types become the listing of `gusset energies` and the JSON schema.
pub trait Energy: DeserializeOwned + JsonSchema + 'static {
    /// Name in scene files, kebab-case.
    const KIND: &'static str;
    /// One line on what it is.
    const ABOUT: &'static str;

    /// Turns the description into terms.
    fn build(self, site: &Site<'_>, out: &mut Terms) -> Result<(), BuildError>;
}

/// One row of the registry.
pub struct Kind {
    /// Name in scene files.
    pub name: &'static str,
    /// One line on what it is.
    pub about: &'static str,
    /// Package that registered it.
    pub package: &'static str,
    /// JSON schema of its keys.
    pub schema: fn() -> Schema,
    /// Reads the keys and builds the terms.
    pub build: fn(ValueDeserializer<'_>, &Site<'_>, &mut Terms) -> Result<(), BuildError>,
}

impl Kind {
    /// The row of an energy type; [`register!`](crate::register) submits it.
    pub const fn of<E: Energy>(package: &'static str) -> Self {
        Self {
            name: E::KIND,
            about: E::ABOUT,
            package,
            schema: || schemars::schema_for!(E),
            build: |keys, site, out| {
                let energy = E::deserialize(keys).map_err(BuildError::Keys)?;
                energy.build(site, out)
            },
        }
    }
}

inventory::collect!(Kind);

/// Kinds by name, in alphabetical order whatever the linker did.
pub struct Registry {
    kinds: BTreeMap<&'static str, &'static Kind>,
}

impl Registry {
    /// A registry of given rows, for tests and platforms without link-time registration.
    ///
    /// # Panics
    /// If two rows have one name: the binary links two crates that can't be told apart.
    pub fn from_rows(rows: impl IntoIterator<Item = &'static Kind>) -> Self {
        let mut kinds: BTreeMap<&'static str, &'static Kind> = BTreeMap::new();
        for row in rows {
            if let Some(other) = kinds.insert(row.name, row) {
                panic!(
                    "energy kind `{}` is registered by both `{}` and `{}`",
                    row.name, other.package, row.package
                );
            }
        }
        Self { kinds }
    }

    /// The kind of that name.
    pub fn get(&self, name: &str) -> Option<&'static Kind> {
        self.kinds.get(name).copied()
    }

    /// All kinds, by name.
    pub fn iter(&self) -> impl Iterator<Item = &'static Kind> + '_ {
        self.kinds.values().copied()
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.kinds.keys().copied()
    }
}

/// The kinds that this binary links.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry::from_rows(inventory::iter::<Kind>))
}

/// Registers an [`Energy`] under its name. A binary knows the kind once it links the crate: `use my_energy as _;`.
#[macro_export]
macro_rules! register {
    ($energy:ty) => {
        const _: () = {
            use $crate::macros::inventory;
            inventory::submit! { $crate::Kind::of::<$energy>(env!("CARGO_PKG_NAME")) }
        };
    };
}
