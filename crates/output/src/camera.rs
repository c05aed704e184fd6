//! The perspective camera and how it finds its place.

use glam::{DVec3, Vec3};

/// A perspective camera; lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the eye is.
    pub eye: DVec3,
    /// The point in the middle of the picture.
    pub target: DVec3,
    /// Up direction, need not be at right angles to the view.
    pub up: DVec3,
    /// Vertical field of view in degrees.
    pub field_of_view: f64,
}

/// From where a camera looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Angle about the up axis in degrees; 0 looks from +x (for up = z), 90 from +y.
    pub azimuth: f64,
    /// Angle above the horizon in degrees.
    pub elevation: f64,
    /// Above 1 goes nearer.
    pub zoom: f64,
    /// Unit up axis.
    pub up: DVec3,
}

impl Default for Orbit {
    fn default() -> Orbit {
        Orbit { azimuth: -58.0, elevation: 24.0, zoom: 1.0, up: DVec3::Z }
    }
}

impl Orbit {
    /// Unit vector from the target to the eye.
    pub fn direction(&self) -> DVec3 {
        let (side, front) = axes(self.up);
        let (azimuth, elevation) = (self.azimuth.to_radians(), self.elevation.to_radians());
        (side * azimuth.cos() + front * azimuth.sin()) * elevation.cos() + self.up * elevation.sin()
    }
}

/// Two unit vectors that make a right-handed system with the unit vector `up`: x and y for z.
pub(crate) fn axes(up: DVec3) -> (DVec3, DVec3) {
    let start = if up.z.abs() > 0.9 { DVec3::X } else { DVec3::Z };
    let side = (start - up * start.dot(up)).normalize();
    (side, up.cross(side))
}

impl Camera {
    /// A camera that shows all `points` (centre and radius) as large as they fit, with a margin.
    /// `aspect` is width over height.
    pub fn framing(points: &[(DVec3, f64)], orbit: &Orbit, aspect: f64) -> Camera {
        let field_of_view: f64 = 28.0;
        let back = orbit.direction();
        let right = orbit.up.cross(back).try_normalize().unwrap_or(axes(orbit.up).0);
        let above = back.cross(right);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for (p, r) in points.iter().filter(|(p, _)| p.is_finite()) {
            low = low.min(*p - DVec3::splat(*r));
            high = high.max(*p + DVec3::splat(*r));
        }
        if low.x > high.x {
            (low, high) = (DVec3::NEG_ONE, DVec3::ONE);
        }
        let mut target = (low + high) * 0.5;
        let size = (high - low).length().max(1e-9);
        let half_height = (field_of_view.to_radians() * 0.5).tan();
        let half_width = half_height * aspect;
        let mut distance = size;
        // The middle of what is seen depends on the distance and the other way round: some rounds settle it.
        for _ in 0..12 {
            let (mut tall, mut wide) =
                ([f64::INFINITY, f64::NEG_INFINITY], [f64::INFINITY, f64::NEG_INFINITY]);
            for (p, r) in points.iter().filter(|(p, _)| p.is_finite()) {
                let d = *p - target;
                let depth = (distance - d.dot(back)).max(distance * 0.05);
                let (x, y) = (d.dot(right), d.dot(above));
                wide = [wide[0].min((x - r) / depth), wide[1].max((x + r) / depth)];
                tall = [tall[0].min((y - r) / depth), tall[1].max((y + r) / depth)];
            }
            if wide[0] <= wide[1] {
                target += right * (0.5 * (wide[0] + wide[1]) * distance);
                target += above * (0.5 * (tall[0] + tall[1]) * distance);
            }
            distance = size * 0.05;
            for (p, r) in points.iter().filter(|(p, _)| p.is_finite()) {
                let d = *p - target;
                let (x, y) = (d.dot(right).abs() + r, d.dot(above).abs() + r);
                distance = distance.max((x / half_width).max(y / half_height) + d.dot(back));
            }
        }
        let distance = distance * 1.16 / orbit.zoom.max(1e-3);
        // `above`, not the orbit's axis: seen from straight above the axis says nothing.
        Camera { eye: target + back * distance, target, up: above, field_of_view }
    }

    /// The camera in single precision, positions relative to `origin`.
    pub(crate) fn view(&self, origin: DVec3, width: usize, height: usize) -> View {
        let forward = (self.target - self.eye).try_normalize().unwrap_or(DVec3::NEG_Z);
        let right = forward.cross(self.up).try_normalize().unwrap_or(axes(forward).0);
        let above = right.cross(forward);
        let focal = height as f64 * 0.5 / (self.field_of_view.to_radians() * 0.5).tan();
        View {
            eye: (self.eye - origin).as_vec3(),
            right: right.as_vec3(),
            above: above.as_vec3(),
            forward: forward.as_vec3(),
            focal: focal as f32,
            middle: [width as f32 * 0.5, height as f32 * 0.5],
            near: ((self.target - self.eye).length() * 1e-3) as f32,
        }
    }
}

/// A camera ready to project; screen coordinates in samples, y down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) eye: Vec3,
    pub(crate) right: Vec3,
    pub(crate) above: Vec3,
    pub(crate) forward: Vec3,
    pub(crate) focal: f32,
    pub(crate) middle: [f32; 2],
    pub(crate) near: f32,
}

impl View {
    /// Right, above and depth of a point, in metres.
    pub(crate) fn local(&self, p: Vec3) -> Vec3 {
        let d = p - self.eye;
        Vec3::new(d.dot(self.right), d.dot(self.above), d.dot(self.forward))
    }

    /// Screen position of a point given by [`View::local`].
    pub(crate) fn screen(&self, local: Vec3) -> [f32; 2] {
        let scale = self.focal / local.z;
        [self.middle[0] + local.x * scale, self.middle[1] - local.y * scale]
    }

    /// The ray through a screen position, with a depth of 1 per unit of length along it.
    pub(crate) fn ray(&self, x: f32, y: f32) -> Vec3 {
        self.forward
            + self.right * ((x - self.middle[0]) / self.focal)
            + self.above * ((self.middle[1] - y) / self.focal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_shows_everything_and_wastes_little() {
        let points: Vec<(DVec3, f64)> = (0..200)
            .map(|i| {
                let a = f64::from(i);
                (DVec3::new(5.0 + a.sin(), 0.4 * (a * 1.7).cos(), 0.01 * a), 0.05)
            })
            .collect();
        for azimuth in [-58.0, 0.0, 90.0, 200.0] {
            for elevation in [-20.0, 0.0, 24.0, 90.0] {
                let orbit = Orbit { azimuth, elevation, ..Orbit::default() };
                let view = Camera::framing(&points, &orbit, 1.5).view(DVec3::ZERO, 600, 400);
                let (mut low, mut high) = ([f32::MAX; 2], [f32::MIN; 2]);
                for (p, _) in &points {
                    let screen = view.screen(view.local(p.as_vec3()));
                    for c in 0..2 {
                        low[c] = low[c].min(screen[c]);
                        high[c] = high[c].max(screen[c]);
                    }
                }
                assert!(low[0] > 0.0 && low[1] > 0.0 && high[0] < 600.0 && high[1] < 400.0);
                let fill = ((high[0] - low[0]) / 600.0).max((high[1] - low[1]) / 400.0);
                assert!(fill > 0.6, "{azimuth} {elevation}: {fill}");
            }
        }
    }

    #[test]
    fn a_ray_goes_through_its_point() {
        let camera = Camera::framing(&[(DVec3::ONE, 0.5)], &Orbit::default(), 1.0);
        let view = camera.view(DVec3::ZERO, 100, 100);
        let p = Vec3::new(1.1, 0.8, 1.2);
        let local = view.local(p);
        let [x, y] = view.screen(local);
        assert!((view.eye + view.ray(x, y) * local.z - p).length() < 1e-4);
    }
}
