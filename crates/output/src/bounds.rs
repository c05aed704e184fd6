//! Boxes around bodies, and where the ground is.

use glam::DVec3;

use crate::body::{BodyInfo, Role};

/// An axis-aligned box; empty at first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) low: DVec3,
    pub(crate) high: DVec3,
}

impl Bounds {
    pub(crate) const EMPTY: Bounds = Bounds { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    /// Grows around a body's points; spheres count with their radii, points that are not finite don't.
    pub(crate) fn add(&mut self, body: &BodyInfo, points: &[DVec3]) {
        for (v, p) in points.iter().enumerate().filter(|(_, p)| p.is_finite()) {
            let r = DVec3::splat(body.radii.get(v).copied().unwrap_or(0.0));
            self.low = self.low.min(*p - r);
            self.high = self.high.max(*p + r);
        }
    }

    pub(crate) fn union(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.low.x > self.high.x
    }

    /// Itself, or a box of 2 m where there is nothing.
    pub(crate) fn or_unit(self) -> Bounds {
        if self.is_empty() { Bounds { low: DVec3::NEG_ONE, high: DVec3::ONE } } else { self }
    }

    pub(crate) fn centre(&self) -> DVec3 {
        (self.low + self.high) * 0.5
    }

    pub(crate) fn size(&self) -> DVec3 {
        self.high - self.low
    }

    /// Smallest height of the box along an axis.
    fn base(&self, up: DVec3) -> f64 {
        (self.centre().dot(up)) - 0.5 * self.size().dot(up.abs())
    }
}

/// Box of what moves, or of everything where nothing does. One box a body.
pub(crate) fn focus(bodies: &[BodyInfo], boxes: &[Bounds]) -> Bounds {
    let join = |moving: Option<bool>| {
        (bodies.iter().zip(boxes))
            .filter(|(body, _)| moving.is_none_or(|m| body.moving == m))
            .fold(Bounds::EMPTY, |all, (_, b)| all.union(*b))
    };
    let moving = join(Some(true));
    if moving.is_empty() { join(None).or_unit() } else { moving }
}

/// Which bodies hold others: still obstacles with something that moves well inside their box. They are drawn so that
/// one sees what is in them.
#[derive(Clone, Debug)]
pub(crate) struct Containers {
    inner: Vec<Option<Bounds>>,
    pub(crate) found: Vec<bool>,
}

impl Containers {
    /// `frame` is any one.
    pub(crate) fn new(bodies: &[BodyInfo], frame: &[Vec<DVec3>]) -> Containers {
        let inner = bodies.iter().zip(frame).map(|(body, points)| {
            let mut bounds = Bounds::EMPTY;
            bounds.add(body, points);
            if body.role != Role::Obstacle || body.moving || bounds.is_empty() {
                return None;
            }
            // A ball that something lies on has nothing in the inner half of its box.
            let (centre, half) = (bounds.centre(), bounds.size() * 0.25);
            Some(Bounds { low: centre - half, high: centre + half })
        });
        Containers { inner: inner.collect(), found: vec![false; bodies.len()] }
    }

    /// Looks into one frame.
    pub(crate) fn look(&mut self, bodies: &[BodyInfo], frame: &[Vec<DVec3>]) {
        for (inner, found) in self.inner.iter().zip(&mut self.found) {
            let (Some(inner), false) = (inner, *found) else { continue };
            let inside = |p: &DVec3| p.cmpge(inner.low).all() && p.cmple(inner.high).all();
            let moving = bodies.iter().zip(frame).filter(|(body, _)| body.moving);
            *found = moving.flat_map(|(_, points)| points).any(inside);
        }
    }
}

/// Height at which to draw a ground, under everything. None where the scene has a slab, or an obstacle that is
/// flat, wide and below what moves.
pub(crate) fn ground_height(bodies: &[BodyInfo], boxes: &[Bounds], up: DVec3) -> Option<f64> {
    let seen = focus(bodies, boxes);
    let across = |b: &Bounds| b.size().reject_from_normalized(up).length();
    let floor = bodies.iter().zip(boxes).any(|(body, b)| {
        body.role == Role::Slab
            || body.role == Role::Obstacle
                && !b.is_empty()
                && b.size().dot(up).abs() < 0.05 * across(b)
                && across(b) > 0.8 * across(&seen)
                && b.base(up) <= seen.base(up) + 0.05 * across(&seen)
    });
    let all = boxes.iter().fold(seen, |all, b| all.union(*b));
    // A little lower, or what lies flat on it would flicker through it.
    (!floor).then(|| all.base(up) - 2e-3 * seen.size().length())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(role: Role, points: &[DVec3]) -> (BodyInfo, Bounds) {
        let body = BodyInfo::new("a", role, points.len(), Vec::new());
        let mut bounds = Bounds::EMPTY;
        bounds.add(&body, points);
        (body, bounds)
    }

    #[test]
    fn the_ground_lies_under_everything_unless_there_is_a_floor() {
        let cloth = body(Role::Film, &[DVec3::new(-1.0, -1.0, 0.5), DVec3::new(1.0, 1.0, 0.7)]);
        let post = body(Role::Obstacle, &[DVec3::new(0.0, 0.0, -0.3), DVec3::new(0.1, 0.1, 0.4)]);
        let floor = body(Role::Obstacle, &[DVec3::new(-2.0, -2.0, 0.0), DVec3::new(2.0, 2.0, 0.0)]);
        let ground = |scene: &[&(BodyInfo, Bounds)]| {
            let (bodies, boxes): (Vec<_>, Vec<_>) = scene.iter().map(|s| (*s).clone()).unzip();
            ground_height(&bodies, &boxes, DVec3::Z)
        };
        let height = ground(&[&cloth, &post]).unwrap();
        assert!(height < -0.3 && height > -0.31);
        assert_eq!(ground(&[&cloth, &post, &floor]), None);
        assert_eq!(focus(&[], &[]), Bounds::EMPTY.or_unit());
    }

    #[test]
    fn a_bin_holds_what_is_in_it_and_a_ball_does_not() {
        let obstacle = BodyInfo::new("o", Role::Obstacle, 2, Vec::new());
        let cloth = BodyInfo::new("cloth", Role::Film, 1, Vec::new());
        let bodies = [obstacle, cloth];
        let frame = |p: DVec3| vec![vec![DVec3::NEG_ONE, DVec3::ONE], vec![p]];
        let mut containers = Containers::new(&bodies, &frame(DVec3::ZERO));
        // On the surface of the ball in the box.
        containers.look(&bodies, &frame(DVec3::splat(0.577)));
        assert_eq!(containers.found, [false, false]);
        containers.look(&bodies, &frame(DVec3::splat(0.4)));
        containers.look(&bodies, &frame(DVec3::splat(9.0)));
        assert_eq!(containers.found, [true, false]);
    }
}
