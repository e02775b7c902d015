//! Placement of the names of points so that they can be read.

/// A rectangle: left, top, right, bottom, in pixels.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

/// Height of a line of text and width of a letter at 12 pixels. The viewer chooses the font, so these values
/// are generous.
const HEIGHT: i32 = 14;
const LETTER: i32 = 6;
/// Distance from the centre of a point to its edge.
const DOT: i32 = 5;

impl Region {
    fn dot((x, y): (i32, i32)) -> Self {
        Self { left: x - DOT, top: y - DOT, right: x + DOT, bottom: y + DOT }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_in(&self, area: &Self) -> bool {
        self.left >= area.left
            && self.right <= area.right
            && self.top >= area.top
            && self.bottom <= area.bottom
    }

    /// The squared distance of its nearest edge from a point.
    fn from(&self, (x, y): (i32, i32)) -> i32 {
        let (dx, dy) = (x - x.clamp(self.left, self.right), y - y.clamp(self.top, self.bottom));
        dx * dx + dy * dy
    }

    /// The place where a line from a point meets it.
    pub(super) fn nearest(&self, (x, y): (i32, i32)) -> (i32, i32) {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }

    /// The start of its text if it lies to the right of its point, otherwise the end; vertically centred.
    pub(super) fn anchor(&self, point: (i32, i32)) -> (i32, i32) {
        let x = if self.left > point.0 { self.left } else { self.right };
        (x, (self.top + self.bottom) / 2)
    }

    /// Whether it is directly beside its point, so that no line is needed to connect them.
    pub(super) fn is_beside(&self, point: (i32, i32)) -> bool {
        self.from(point) <= (2 * DOT) * (2 * DOT)
    }
}

/// Returns a box for the name of every point, inside an area: as near to its point as possible, and away
/// from other names and points. A name for which there is no room is placed to the right of its point.
pub(super) fn place(points: &[((i32, i32), &str)], area: &Region) -> Vec<Region> {
    let dots: Vec<Region> = points.iter().map(|(point, _)| Region::dot(*point)).collect();
    let mut placed: Vec<Region> = Vec::with_capacity(points.len());
    for ((x, y), name) in points {
        let width = LETTER * i32::try_from(name.chars().count()).unwrap_or(i32::MAX / LETTER);
        let at =
            |left: i32, top: i32| Region { left, top, right: left + width, bottom: top + HEIGHT };
        let rows = (-12..=12).map(|row| y - HEIGHT / 2 + row * HEIGHT / 2);
        let columns = [0, 30, 60, 100]
            .into_iter()
            .flat_map(|away| [x + DOT + 3 + away, x - DOT - 3 - away - width]);
        let free = rows
            .flat_map(|top| columns.clone().map(move |left| at(left, top)))
            .filter(|label| label.is_in(area))
            .filter(|label| !dots.iter().chain(&placed).any(|other| label.meets(other)))
            // Among equally near boxes, prefer the same height, then the right side.
            .min_by_key(|label| {
                (label.from((*x, *y)), (label.anchor((*x, *y)).1 - y).abs(), -label.left)
            });
        placed.push(free.unwrap_or_else(|| at(x + DOT + 3, y - HEIGHT / 2)));
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Region = Region { left: 0, top: 0, right: 600, bottom: 400 };

    #[test]
    fn names_of_a_crowd_do_not_meet() {
        // At the right edge, where names have to be placed to the left, and in the middle.
        let crowd = |x| (0..8).map(move |number| ((x, 100 + 3 * number), "E-Trace+ir+bp+jtc"));
        let points: Vec<_> = crowd(590).chain(crowd(200)).collect();
        let labels = place(&points, &AREA);
        for (number, label) in labels.iter().enumerate() {
            assert!(label.is_in(&AREA), "{label:?}");
            assert!(
                !points.iter().any(|(point, _)| label.meets(&Region::dot(*point))),
                "{label:?}"
            );
            let others = labels.iter().skip(number + 1);
            assert!(!others.into_iter().any(|other| label.meets(other)), "{label:?}");
        }
    }

    #[test]
    fn a_name_alone_is_beside_its_point() {
        let point = (300, 200);
        let label = place(&[(point, "BASE")], &AREA)[0];
        assert!(label.is_beside(point) && label.left > point.0, "{label:?}");
        assert_eq!(label.nearest(point), (label.left, point.1));
        assert_eq!(label.anchor(point), (label.left, point.1));
        let edge = (598, 200);
        let label = place(&[(edge, "BASE")], &AREA)[0];
        assert!(label.is_beside(edge) && label.right < edge.0, "{label:?}");
        assert_eq!(label.anchor(edge), (label.right, edge.1));
    }

    #[test]
    fn without_room_it_is_drawn_all_the_same() {
        let small = Region { left: 0, top: 0, right: 10, bottom: 10 };
        assert_eq!(place(&[((5, 5), "bTMBP")], &small)[0].left, 13);
    }
}
