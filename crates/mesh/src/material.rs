//! Elastic constants and densities.

/// Constants of a material, as far as they are known; SI.
///
/// The functions give what an energy needs, or an error that names the constant that is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Material {
    /// Young's modulus (Pa).
    pub young: Option<f64>,
    /// Poisson's ratio.
    pub poisson: Option<f64>,
    /// Thickness of a film (m).
    pub thickness: Option<f64>,
    /// Mass per volume (kg/m^3).
    pub density: Option<f64>,
    /// Mass per area of a film (kg/m^2).
    pub area_density: Option<f64>,
}

/// What a material lacks, or has wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// A constant that is needed was not given.
    #[error("the material has no `{constant}` [{unit}], which {needed_for} needs")]
    Missing {
        /// Name of the constant.
        constant: &'static str,
        /// Its SI unit.
        unit: &'static str,
        /// What it is needed for.
        needed_for: &'static str,
    },
    /// A constant that makes no physical sense.
    #[error("the material's `{constant}` is {value}, expected {expected}")]
    OutOfRange {
        /// Name of the constant.
        constant: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
}

impl Material {
    /// Lamé constants of a film under plane stress, `(mu, lambda)` (N/m):
    /// `mu = E h / (2 (1+nu))`, `lambda = E h nu / (1-nu^2)`.
    pub fn lame_plane_stress(&self) -> Result<(f64, f64), MaterialError> {
        const FOR: &str = "the stretching of a film";
        let (e, nu, h) = (self.young(FOR)?, self.poisson(FOR)?, self.thickness(FOR)?);
        Ok((e * h / (2.0 * (1.0 + nu)), e * h * nu / (1.0 - nu * nu)))
    }

    /// Lamé constants of a solid, `(mu, lambda)` (Pa): `mu = E / (2 (1+nu))`,
    /// `lambda = E nu / ((1+nu)(1-2nu))`.
    pub fn lame_solid(&self) -> Result<(f64, f64), MaterialError> {
        const FOR: &str = "the elasticity of a solid";
        let (e, nu) = (self.young(FOR)?, self.poisson(FOR)?);
        Ok((e / (2.0 * (1.0 + nu)), e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))))
    }

    /// Bending stiffness of a film, `D = E h^3 / (12 (1-nu^2))` (N m).
    pub fn bending(&self) -> Result<f64, MaterialError> {
        const FOR: &str = "the bending of a film";
        let (e, nu, h) = (self.young(FOR)?, self.poisson(FOR)?, self.thickness(FOR)?);
        Ok(e * h.powi(3) / (12.0 * (1.0 - nu * nu)))
    }

    /// Mass per area of a film (kg/m^2): the one given, else density times thickness.
    pub fn surface_density(&self) -> Result<f64, MaterialError> {
        const FOR: &str = "the mass of a film (or else `area_density`)";
        match self.area_density {
            Some(given) => positive("area_density", given),
            None => Ok(self.volume_density(FOR)? * self.thickness(FOR)?),
        }
    }

    /// Mass per volume (kg/m^3); `needed_for` completes the error message.
    pub fn volume_density(&self, needed_for: &'static str) -> Result<f64, MaterialError> {
        positive("density", given(self.density, "density", "kg/m^3", needed_for)?)
    }

    fn young(&self, needed_for: &'static str) -> Result<f64, MaterialError> {
        positive("young", given(self.young, "young", "Pa", needed_for)?)
    }

    fn thickness(&self, needed_for: &'static str) -> Result<f64, MaterialError> {
        positive("thickness", given(self.thickness, "thickness", "m", needed_for)?)
    }

    fn poisson(&self, needed_for: &'static str) -> Result<f64, MaterialError> {
        let value = given(self.poisson, "poisson", "1", needed_for)?;
        if value > -1.0 && value < 0.5 {
            return Ok(value);
        }
        let expected = "above -1 and below 0.5";
        Err(MaterialError::OutOfRange { constant: "poisson", value, expected })
    }
}

fn given(
    value: Option<f64>,
    constant: &'static str,
    unit: &'static str,
    needed_for: &'static str,
) -> Result<f64, MaterialError> {
    value.ok_or(MaterialError::Missing { constant, unit, needed_for })
}

fn positive(constant: &'static str, value: f64) -> Result<f64, MaterialError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(MaterialError::OutOfRange { constant, value, expected: "a number above 0" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILM: Material = Material {
        young: Some(315e6),
        poisson: Some(0.45),
        thickness: Some(30e-6),
        density: Some(925.0),
        area_density: None,
    };

    #[test]
    fn constants_of_the_bag_film() {
        let (mu, lambda) = FILM.lame_plane_stress().unwrap();
        assert!((mu - 3258.62).abs() < 0.005, "{mu}");
        assert!((lambda - 5332.29).abs() < 0.005, "{lambda}");
        assert!((FILM.bending().unwrap() - 8.88715e-7).abs() < 5e-13);
        assert!((FILM.surface_density().unwrap() - 0.02775).abs() < 1e-15);
    }

    #[test]
    fn constants_of_the_drape_cloth() {
        let cloth = Material {
            young: Some(2.5e7),
            poisson: Some(0.25),
            thickness: Some(1e-3),
            ..Material::default()
        };
        let (mu, lambda) = cloth.lame_plane_stress().unwrap();
        assert!((mu - 1e4).abs() < 1e-9 && (lambda - 2e4 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn solid_constants_give_young_and_poisson_back() {
        let (mu, lambda) = FILM.lame_solid().unwrap();
        let young = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
        assert!((young / 315e6 - 1.0).abs() < 1e-14);
        assert!((lambda / (2.0 * (lambda + mu)) - 0.45).abs() < 1e-14);
    }

    #[test]
    fn missing_and_senseless_constants_are_named() {
        let error = Material { poisson: None, ..FILM }.bending().unwrap_err();
        assert!(error.to_string().contains("no `poisson`"), "{error}");
        let error = Material { density: None, ..FILM }.surface_density().unwrap_err();
        assert!(error.to_string().contains("`density` [kg/m^3]"), "{error}");
        let error = Material { poisson: Some(0.5), ..FILM }.lame_solid().unwrap_err();
        assert!(error.to_string().contains("below 0.5"), "{error}");
        assert!(Material { young: Some(f64::NAN), ..FILM }.bending().is_err());
        let given = Material { area_density: Some(0.2), ..Material::default() };
        assert_eq!(given.surface_density(), Ok(0.2));
    }
}
