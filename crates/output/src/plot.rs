//! Line plots as SVG.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::error::{OutputError, Result};

/// A curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend; a single unnamed curve has none.
    pub name: String,
    /// Points (x, y); a point that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
    /// Number of its colour, where several curves are to have the same; its place among the curves where absent.
    pub colour: Option<usize>,
}

/// A plot of curves over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Title above the plot.
    pub title: String,
    /// Label of the horizontal axis, with its unit.
    pub x_label: String,
    /// Label of the vertical axis, with its unit.
    pub y_label: String,
    /// Logarithmic vertical axis; values that are not positive are left out.
    pub log: bool,
    /// Whether the vertical axis begins at zero.
    pub from_zero: bool,
    /// Size in pixels.
    pub size: (u32, u32),
    /// The curves.
    pub series: Vec<Series>,
    /// Faint vertical lines, at the beginnings of phases for one.
    pub verticals: Vec<f64>,
    /// Limits that curves should keep: from one point (x, y) to another.
    pub limits: Vec<[(f64, f64); 2]>,
}

impl Default for Plot {
    fn default() -> Plot {
        Plot {
            title: String::new(),
            x_label: "time [s]".to_owned(),
            y_label: String::new(),
            log: false,
            from_zero: false,
            size: (720, 360),
            series: Vec::new(),
            verticals: Vec::new(),
            limits: Vec::new(),
        }
    }
}

const COLOURS: [RGBColor; 6] = [
    RGBColor(31, 122, 112),
    RGBColor(214, 96, 60),
    RGBColor(61, 105, 160),
    RGBColor(200, 150, 40),
    RGBColor(132, 94, 166),
    RGBColor(90, 96, 102),
];

/// A colour of curves, as in style sheets.
pub(crate) fn colour_text(number: usize) -> String {
    let RGBColor(red, green, blue) = COLOURS[number % COLOURS.len()];
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Of limits.
const LIMIT: RGBColor = RGBColor(176, 32, 48);

/// The backend rounds to whole units, which makes smooth curves ragged: units are a quarter of a pixel.
const FINE: u32 = 4;

/// Around a plot, for the numbers below it, for those beside it (pixels).
const MARGIN: u32 = 12;
const BELOW: u32 = 38;
const BESIDE: u32 = 62;

impl Plot {
    /// The plot as SVG text.
    pub fn svg(&self) -> Result<String> {
        let mut text = String::new();
        {
            let size = (self.size.0 * FINE, self.size.1 * FINE);
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            self.draw(&root).map_err(|e| OutputError::Plot(e.to_string()))?;
            root.present().map_err(|e| OutputError::Plot(e.to_string()))?;
        }
        let (width, height) = self.size;
        let drawn = format!("width=\"{}\" height=\"{}\"", width * FINE, height * FINE);
        Ok(text.replacen(&drawn, &format!("width=\"{width}\" height=\"{height}\""), 1))
    }

    /// Where the horizontal axis begins and ends: values, and shares of the width.
    pub fn horizontal(&self) -> ([f64; 2], [f64; 2]) {
        let width = f64::from(self.size.0);
        let ends = [f64::from(MARGIN + BESIDE) / width, 1.0 - f64::from(MARGIN) / width];
        (self.ranges().0, ends)
    }

    /// Ranges of both axes, a little wider than the data.
    fn ranges(&self) -> ([f64; 2], [f64; 2]) {
        let (mut x, mut y) =
            ([f64::INFINITY, f64::NEG_INFINITY], [f64::INFINITY, f64::NEG_INFINITY]);
        let limits = self.limits.iter().flatten();
        for (a, b) in self.series.iter().flat_map(|s| &s.points).chain(limits) {
            if self.shown(*a, *b) {
                x = [x[0].min(*a), x[1].max(*a)];
                y = [y[0].min(*b), y[1].max(*b)];
            }
        }
        if x[0] > x[1] {
            (x, y) = ([0.0, 1.0], if self.log { [0.1, 1.0] } else { [0.0, 1.0] });
        }
        if x[0] == x[1] {
            x[1] = x[0] + x[0].abs().max(1.0);
        }
        if self.log {
            return (x, [y[0] / 1.3, y[1] * 1.3]);
        }
        if self.from_zero {
            y = [y[0].min(0.0), y[1].max(0.0)];
        }
        let margin = match y[1] - y[0] {
            d if d > 0.0 => 0.05 * d,
            _ => (y[1].abs() * 0.1).max(1e-12),
        };
        let low = if self.from_zero && y[0] == 0.0 { 0.0 } else { y[0] - margin };
        (x, [low, y[1] + margin])
    }

    fn shown(&self, x: f64, y: f64) -> bool {
        x.is_finite() && y.is_finite() && (!self.log || y > 0.0)
    }

    fn draw(
        &self,
        root: &DrawingArea<SVGBackend<'_>, Shift>,
    ) -> Result<(), Box<dyn std::error::Error + '_>> {
        let ([x0, x1], [y0, y1]) = self.ranges();
        root.fill(&WHITE).map_err(|e| e.to_string())?;
        let mut builder = ChartBuilder::on(root);
        let fine = |pixels: u32| pixels * FINE;
        builder.margin(fine(MARGIN)).x_label_area_size(fine(BELOW)).y_label_area_size(fine(BESIDE));
        if !self.title.is_empty() {
            builder.caption(&self.title, ("sans-serif", fine(18)));
        }
        // The two axes are different types, hence the macro.
        macro_rules! chart {
            ($y:expr) => {{
                let mut chart =
                    builder.build_cartesian_2d(x0..x1, $y).map_err(|e| e.to_string())?;
                chart
                    .configure_mesh()
                    .x_desc(&self.x_label)
                    .y_desc(&self.y_label)
                    .x_label_formatter(&|v| number(*v))
                    .y_label_formatter(&|v| number(*v))
                    .label_style(("sans-serif", fine(13)))
                    .light_line_style(RGBColor(244, 245, 246).stroke_width(FINE))
                    .bold_line_style(RGBColor(226, 228, 230).stroke_width(FINE))
                    .axis_style(RGBColor(120, 126, 132).stroke_width(FINE))
                    .draw()
                    .map_err(|e| e.to_string())?;
                let faint = RGBColor(205, 209, 213).stroke_width(FINE);
                for x in self.verticals.iter().filter(|x| (x0..=x1).contains(*x)) {
                    let line = LineSeries::new([(*x, y0), (*x, y1)], faint);
                    chart.draw_series(line).map_err(|e| e.to_string())?;
                }
                for ends in self.limits.iter().filter(|e| e.iter().all(|(x, y)| self.shown(*x, *y)))
                {
                    let style = LIMIT.stroke_width(FINE + FINE / 2);
                    let line = LineSeries::new(ends.iter().copied(), style);
                    chart.draw_series(line).map_err(|e| e.to_string())?;
                }
                for (i, series) in self.series.iter().enumerate() {
                    let colour = COLOURS[series.colour.unwrap_or(i) % COLOURS.len()];
                    let style = colour.stroke_width(fine(2));
                    let pieces = series.points.split(|(x, y)| !self.shown(*x, *y));
                    for (piece, points) in pieces.filter(|p| !p.is_empty()).enumerate() {
                        let line = LineSeries::new(points.iter().copied(), style);
                        let drawn = chart.draw_series(line).map_err(|e| e.to_string())?;
                        if piece == 0 && !series.name.is_empty() {
                            drawn.label(&series.name).legend(move |(x, y)| {
                                PathElement::new(
                                    vec![(x, y), (x + fine(16).cast_signed(), y)],
                                    style,
                                )
                            });
                        }
                    }
                }
                if self.series.iter().any(|s| !s.name.is_empty()) {
                    chart
                        .configure_series_labels()
                        .position(SeriesLabelPosition::UpperRight)
                        .background_style(WHITE.mix(0.85))
                        .border_style(RGBColor(200, 204, 208).stroke_width(FINE))
                        .legend_area_size(fine(26))
                        .margin(fine(6))
                        .label_font(("sans-serif", fine(13)))
                        .draw()
                        .map_err(|e| e.to_string())?;
                }
            }};
        }
        if self.log {
            chart!((y0..y1).log_scale());
        } else {
            chart!(y0..y1);
        }
        Ok(())
    }
}

/// A number for an axis.
fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e5).contains(&size) {
        let text = format!("{x:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(log: bool) -> Plot {
        let series = |name: &str, f: fn(f64) -> f64| Series {
            name: name.to_owned(),
            points: (0..100).map(|i| f64::from(i) / 10.0).map(|t| (t, f(t))).collect(),
            colour: None,
        };
        Plot {
            title: "a & b <c>".to_owned(),
            y_label: "gap [mm]".to_owned(),
            log,
            series: vec![
                series("first", |t| 0.5 + 0.4 * t.sin()),
                series("second", |t| if (3.0..4.0).contains(&t) { f64::NAN } else { (-t).exp() }),
            ],
            ..Plot::default()
        }
    }

    #[test]
    fn curves_break_where_values_are_missing() {
        for log in [false, true] {
            let svg = plot(log).svg().unwrap();
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            assert!(svg.contains("a &amp; b &lt;c&gt;") && svg.contains("second"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
            let [r, g, b] = [COLOURS[1].0, COLOURS[1].1, COLOURS[1].2];
            let colour = format!("#{r:02X}{g:02X}{b:02X}");
            // Two pieces of the curve and its line in the legend.
            assert_eq!(svg.matches(&format!("stroke=\"{colour}\"")).count(), 3);
        }
    }

    #[test]
    fn limits_and_phases_are_drawn() {
        let mut plot = plot(false);
        plot.verticals = vec![2.0, 50.0];
        plot.limits = vec![[(0.0, 3.0), (9.9, 3.0)], [(0.0, f64::NAN), (1.0, f64::NAN)]];
        let svg = plot.svg().unwrap();
        assert_eq!(svg.matches("stroke=\"#B02030\"").count(), 1);
        assert_eq!(svg.matches("stroke=\"#CDD1D5\"").count(), 1, "one of the two is outside");
        assert!(plot.ranges().1[1] > 3.0, "limits are within the axis");
    }

    #[test]
    fn degenerate_data_draws() {
        for points in [vec![], vec![(0.0, 0.0)], vec![(1.0, 5.0); 3], vec![(f64::NAN, 1.0)]] {
            for log in [false, true] {
                let series = vec![Series { points: points.clone(), ..Series::default() }];
                assert!(Plot { log, series, from_zero: true, ..Plot::default() }.svg().is_ok());
            }
        }
    }

    #[test]
    fn axis_numbers_are_short() {
        let cases = [(0.0, "0"), (0.25, "0.25"), (-3.0, "-3"), (1e-6, "1.0e-6"), (1200.0, "1200")];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
    }
}
