//! Plots, as SVG.

use super::labels::{self, Region};
use super::{ComparisonError, Figures};
use crate::Scheme;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::fmt::Display;
use std::ops::Range;

/// An error from the plotting library.
fn failed(error: impl Display) -> ComparisonError {
    ComparisonError::Draw(error.to_string())
}

/// A colour for a scheme, the same in every plot.
fn colour(scheme: &str) -> RGBColor {
    let [red, green, blue] = match scheme.parse::<Scheme>() {
        Ok(scheme) => scheme.family().colour,
        Err(_) if scheme.starts_with("ETMv4") => [0x1a, 0x9a, 0x9a],
        Err(_) if scheme.starts_with("PTM") => [0x7a, 0x5c, 0x3a],
        Err(_) => [0x60, 0x60, 0x60],
    };
    RGBColor(red, green, blue)
}

/// What a scheme costs, on the horizontal axis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// Bits of memory.
    Storage,
    /// Estimated gates.
    Gates,
}

impl Axis {
    fn name(self) -> &'static str {
        match self {
            Self::Storage => "bits of memory in the trace module",
            Self::Gates => "gates (estimate)",
        }
    }

    fn of(self, figures: &Figures) -> Option<f64> {
        let cost = match self {
            Self::Storage => figures.storage_bits,
            Self::Gates => figures.gates,
        };
        cost.map(|cost| cost as f64)
    }
}

/// Cost, bits per instruction, and name.
type Point<'a> = (f64, f64, &'a str);

/// Bits per instruction against cost, both logarithmic, with the staircase of schemes that no other beats in
/// both. Sizes of one scheme are connected. Software has no cost: the best of each kind is a line that bounds what is possible.
pub(super) fn pareto(means: &[Figures], axis: Axis) -> Result<String, ComparisonError> {
    let means: Vec<&Figures> = means.iter().filter(|mean| mean.bits > 0).collect();
    let points: Vec<Point<'_>> = means
        .iter()
        .filter_map(|mean| Some((axis.of(mean)?, mean.bits_per_instruction, &mean.scheme[..])))
        .collect();
    let bounds = bounds(&means);
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::MAX, 0.0_f64), |(l, h), v| (l.min(v), h.max(v)));
        low.min(high).max(f64::MIN_POSITIVE) * 0.7..high.max(f64::MIN_POSITIVE) * 1.6
    };
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (1080, 680)).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let costs = range(&mut points.iter().map(|point| point.0));
        let all = points.iter().map(|point| point.1).chain(bounds.iter().map(|bound| bound.0));
        let bits = range(&mut { all });
        let ends = (costs.clone(), bits.end);
        let (cost_ticks, bit_ticks) = (ticks(&costs), ticks(&bits));
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d(
                costs.log_scale().with_key_points(cost_ticks),
                bits.log_scale().with_key_points(bit_ticks),
            )
            .map_err(failed)?;
        chart
            .configure_mesh()
            .x_desc(axis.name())
            .y_desc("bits per instruction, mean")
            .x_label_formatter(&tick_name)
            .y_label_formatter(&tick_name)
            .draw()
            .map_err(failed)?;
        let steps = staircase(&front(&points), ends.0.end, ends.1);
        chart.draw_series(LineSeries::new(steps, BLACK.mix(0.5))).map_err(failed)?;
        for (bits, name) in &bounds {
            let line = [(ends.0.start, *bits), (ends.0.end, *bits)];
            let line = DashedLineSeries::new(line, 6, 4, colour(name).mix(0.7).into());
            chart.draw_series(line).map_err(failed)?;
        }
        for (sizes, name) in sweeps(&points) {
            chart.draw_series(LineSeries::new(sizes, colour(name).mix(0.5))).map_err(failed)?;
        }
        let names: Vec<String> =
            points.iter().map(|(_, bits, scheme)| format!("{scheme} {bits:.3}")).collect();
        let inside = chart.plotting_area();
        let (x, y) = inside.get_pixel_range();
        let region = Region { left: x.start, top: y.start, right: x.end, bottom: y.end };
        let dots: Vec<((i32, i32), &str)> = points
            .iter()
            .zip(&names)
            .map(|((cost, bits, _), name)| (inside.map_coordinate(&(*cost, *bits)), name.as_str()))
            .collect();
        let boxes = labels::place(&dots, &region);
        // Lines are drawn below the names, so that no line crosses one.
        for Region { left, top, right, bottom } in &boxes {
            let ground =
                Rectangle::new([(*left, *top), (*right, *bottom)], WHITE.mix(0.8).filled());
            area.draw(&ground).map_err(failed)?;
        }
        for (bits, name) in &bounds {
            let at = inside.map_coordinate(&(ends.0.start, *bits));
            let text = format!("{name} {bits:.3}, software");
            let colour = colour(name);
            let style = ("sans-serif", 12).into_text_style(&area).color(&colour);
            area.draw(&Text::new(text, (at.0 + 4, at.1 - 14), style)).map_err(failed)?;
        }
        for ((dot, name), (label, point)) in dots.iter().zip(boxes.iter().zip(&points)) {
            if !label.is_beside(*dot) {
                let line = PathElement::new([*dot, label.nearest(*dot)], BLACK.mix(0.3));
                area.draw(&line).map_err(failed)?;
            }
            area.draw(&Circle::new(*dot, 4, colour(point.2).filled())).map_err(failed)?;
            let anchor = label.anchor(*dot);
            let side = if anchor.0 > dot.0 { HPos::Left } else { HPos::Right };
            let style = ("sans-serif", 12).into_text_style(&area).pos(Pos::new(side, VPos::Center));
            let text = Text::new(*name, anchor, style);
            area.draw(&text).map_err(failed)?;
        }
        area.present().map_err(failed)?;
    }
    Ok(svg)
}

/// A name without its numbers, which sizes of one scheme have in common.
fn kind(scheme: &str) -> String {
    scheme.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// The best of each kind of software.
fn bounds<'a>(means: &[&'a Figures]) -> Vec<(f64, &'a str)> {
    let mut best: Vec<(f64, &str)> = Vec::new();
    for mean in means.iter().filter(|mean| mean.storage_bits.is_none()) {
        let (bits, name) = (mean.bits_per_instruction, &mean.scheme[..]);
        match best.iter_mut().find(|(_, other)| kind(other) == kind(name)) {
            Some(other) if other.0 <= bits => {}
            Some(other) => *other = (bits, name),
            None => best.push((bits, name)),
        }
    }
    best
}

/// Points of each scheme that is there in several sizes, the cheapest first, with one of its names.
fn sweeps<'a>(points: &[Point<'a>]) -> Vec<(Vec<(f64, f64)>, &'a str)> {
    let mut groups: Vec<(Vec<(f64, f64)>, &str)> = Vec::new();
    for (cost, bits, name) in points {
        match groups.iter_mut().find(|(_, other)| kind(other) == kind(name)) {
            Some((group, _)) => group.push((*cost, *bits)),
            None => groups.push((vec![(*cost, *bits)], name)),
        }
    }
    groups.retain(|(group, _)| group.len() > 1);
    groups.iter_mut().for_each(|(group, _)| group.sort_by(|a, b| a.0.total_cmp(&b.0)));
    groups
}

/// The line below which no scheme is: from the top down to the cheapest, then to the right and down at each better one.
fn staircase(front: &[(f64, f64)], right: f64, top: f64) -> Vec<(f64, f64)> {
    let mut steps = Vec::new();
    let mut level = top;
    for (cost, bits) in front {
        steps.extend([(*cost, level), (*cost, *bits)]);
        level = *bits;
    }
    if !front.is_empty() {
        steps.push((right, level));
    }
    steps
}

/// The ticks of a logarithmic axis: at 1, 2 and 5 times powers of ten, or only at powers of ten if there
/// are many.
fn ticks(range: &Range<f64>) -> Vec<f64> {
    let (first, last) = (range.start.log10().floor() as i32, range.end.log10().ceil() as i32);
    let steps: &[f64] = if last - first > 6 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    (first..=last)
        .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)))
        .filter(|tick| range.contains(tick))
        .collect()
}

/// A tick with as many decimal places as it needs.
fn tick_name(tick: &f64) -> String {
    let places = (-tick.log10().floor()).max(0.0) as usize;
    format!("{tick:.places$}")
}

/// The points that no other beats in both values, starting with the cheapest.
fn front(points: &[Point<'_>]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = points.iter().map(|point| (point.0, point.1)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut best = f64::MAX;
    sorted.retain(|point| {
        let better = point.1 < best;
        best = best.min(point.1);
        better
    });
    sorted
}

/// Bars of some schemes for every program, on a logarithmic axis, since schemes differ by more than ten times. A program is a name and
/// the bits per instruction of each scheme.
pub(super) fn groups(
    schemes: &[&str],
    programs: &[(&str, Vec<Option<f64>>)],
) -> Result<String, ComparisonError> {
    let values = || programs.iter().flat_map(|(_, values)| values).flatten().filter(|v| **v > 0.0);
    let low = values().fold(f64::MAX, |low, value| low.min(*value)) * 0.7;
    let high = values().fold(0.0_f64, |high, value| high.max(*value)) * 1.3;
    if low > high {
        return Ok(String::new());
    }
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (1080, 440)).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let (legend, area) = area.split_vertically(30 + 18 * (schemes.len() as u32).div_ceil(5));
        let bits = low..high;
        let bit_ticks = ticks(&bits);
        // Names that would touch each other stand in two rows; a letter is about 7 pixels wide.
        let longest = programs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let rows = 1 + i32::from(7 * longest * programs.len() > 980);
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(12 + 16 * rows)
            .y_label_area_size(72)
            .build_cartesian_2d(
                0.0..programs.len() as f64,
                bits.log_scale().with_key_points(bit_ticks),
            )
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .y_desc("bits per instruction")
            .y_label_formatter(&tick_name)
            .draw()
            .map_err(failed)?;
        let slots = schemes.len() as f64 + 1.0;
        for (number, (program, values)) in programs.iter().enumerate() {
            let left = number as f64;
            for (slot, (scheme, value)) in schemes.iter().zip(values).enumerate() {
                let Some(value) = value else { continue };
                let from = left + (slot as f64 + 0.5) / slots;
                let to = left + (slot as f64 + 1.4) / slots;
                let bar = Rectangle::new([(from, low), (to, *value)], shade(scheme, slot).filled());
                chart.draw_series(std::iter::once(bar)).map_err(failed)?;
            }
            let (x, _) = chart.plotting_area().map_coordinate(&(left + 0.5, low));
            let (_, y) = chart.plotting_area().get_pixel_range();
            let style =
                ("sans-serif", 13).into_text_style(&area).pos(Pos::new(HPos::Center, VPos::Top));
            let (dx, dy) = area.get_base_pixel();
            let row = number as i32 % rows;
            let at = (x - dx, y.end - dy + 6 + 16 * row);
            area.draw(&Text::new(*program, at, style)).map_err(failed)?;
        }
        for (slot, scheme) in schemes.iter().enumerate() {
            let (x, y) = (84 + 196 * (slot as i32 % 5), 14 + 18 * (slot as i32 / 5));
            let key = Rectangle::new([(x, y), (x + 12, y + 12)], shade(scheme, slot).filled());
            legend.draw(&key).map_err(failed)?;
            legend.draw(&Text::new(*scheme, (x + 18, y), ("sans-serif", 13))).map_err(failed)?;
        }
        area.present().map_err(failed)?;
    }
    Ok(svg)
}

/// The colour of a scheme, lighter for every second one, so that neighbours of one family can be told apart.
fn shade(scheme: &str, slot: usize) -> RGBAColor {
    colour(scheme).mix(if slot.is_multiple_of(2) { 1.0 } else { 0.6 })
}

/// One bar.
pub(super) struct Bar {
    pub(super) name: String,
    /// The scheme, which determines the colour.
    pub(super) scheme: String,
    pub(super) value: f64,
}

/// Bars of one kind of value, each labelled with its value to some decimal places.
pub(super) fn bars(all: &[Bar], kind: &str, places: usize) -> Result<String, ComparisonError> {
    let names: Vec<&str> = all.iter().rev().map(|bar| bar.name.as_str()).collect();
    let most = all.iter().map(|bar| bar.value).fold(1e-6, f64::max);
    let mut svg = String::new();
    {
        let height = 70 + 17 * all.len() as u32;
        let area = SVGBackend::with_string(&mut svg, (1080, height)).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(230)
            .build_cartesian_2d(0.0..most * 1.1, names.as_slice().into_segmented())
            .map_err(failed)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .x_desc(kind)
            .y_labels(names.len().max(1))
            .y_label_formatter(&|name| match name {
                SegmentValue::Exact(name) | SegmentValue::CenterOf(name) => (**name).to_owned(),
                SegmentValue::Last => String::new(),
            })
            .draw()
            .map_err(failed)?;
        for Bar { name, scheme, value } in all {
            let name = &name.as_str();
            let Some(at) = names.iter().position(|other| other == name) else { continue };
            let top = names.get(at + 1).map_or(SegmentValue::Last, SegmentValue::Exact);
            let mut bar = Rectangle::new(
                [(0.0, SegmentValue::Exact(&names[at])), (*value, top)],
                colour(scheme).filled(),
            );
            bar.set_margin(2, 2, 0, 0);
            chart.draw_series(std::iter::once(bar)).map_err(failed)?;
            let place = (value + most * 0.005, SegmentValue::CenterOf(&names[at]));
            let label = EmptyElement::at(place)
                + Text::new(format!("{value:.places$}"), (0, -5), ("sans-serif", 11));
            chart.draw_series(std::iter::once(label)).map_err(failed)?;
        }
        area.present().map_err(failed)?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_ticks_where_the_points_are() {
        let names = |range| ticks(&range).iter().map(tick_name).collect::<Vec<_>>();
        assert_eq!(names(0.14..5.2), ["0.2", "0.5", "1", "2", "5"]);
        assert_eq!(names(75.0..1_100.0), ["100", "200", "500", "1000"]);
        assert_eq!(names(0.0004..0.003), ["0.0005", "0.001", "0.002"]);
        assert_eq!(names(0.5..9e6), ["1", "10", "100", "1000", "10000", "100000", "1000000"]);
    }

    #[test]
    fn nothing_beats_the_front() {
        let points =
            [(1.0, 5.0, "a"), (2.0, 6.0, "b"), (2.0, 3.0, "c"), (9.0, 3.0, "d"), (9.5, 1.0, "e")];
        let front = front(&points);
        assert_eq!(front, [(1.0, 5.0), (2.0, 3.0), (9.5, 1.0)]);
        let steps = [(1.0, 9.0), (1.0, 5.0), (2.0, 5.0), (2.0, 3.0), (9.5, 3.0), (9.5, 1.0)];
        assert_eq!(staircase(&front, 20.0, 9.0), [&steps[..], &[(20.0, 1.0)]].concat());
        assert_eq!(staircase(&[], 20.0, 9.0), []);
    }

    #[test]
    fn sizes_of_one_scheme_are_connected() {
        let points = [
            (9.0, 1.0, "bTMBP[entries=1024]"),
            (2.0, 3.0, "rSDC-128"),
            (4.0, 2.0, "bTMBP[entries=64]"),
            (3.0, 2.5, "rSDC-256"),
            (1.0, 9.0, "bTMBP[ras=4]"),
        ];
        let found = sweeps(&points);
        assert_eq!(found[0].0, [(4.0, 2.0), (9.0, 1.0)]);
        assert_eq!(found[1].0, [(2.0, 3.0), (3.0, 2.5)]);
        assert_eq!(found.len(), 2);
    }
}
