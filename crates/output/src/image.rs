//! An RGB image with text and PNG output.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::colour::Rgb;
use crate::error::{At, Result};
use crate::font;

/// 8-bit sRGB pixels, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width * height` pixels.
    pub pixels: Vec<[u8; 3]>,
}

impl Image {
    /// An image of one colour.
    pub fn new(width: usize, height: usize, colour: [u8; 3]) -> Image {
        Image { width, height, pixels: vec![colour; width * height] }
    }

    /// Encodes the image as PNG.
    pub fn encode_png(&self, out: impl Write) -> Result<()> {
        let mut encoder = png::Encoder::new(out, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(())
    }

    /// Writes a PNG file.
    pub fn save_png(&self, path: &Path) -> Result<()> {
        let mut out = BufWriter::new(File::create(path).at("create the picture", path)?);
        self.encode_png(&mut out)?;
        out.flush().at("write the picture", path)
    }

    /// Copies `other` with its top left corner at (x, y); what falls outside is cut.
    pub(crate) fn place(&mut self, other: &Image, x: usize, y: usize) {
        let width = other.width.min(self.width.saturating_sub(x));
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let (to, from) = ((y + row) * self.width + x, row * other.width);
            self.pixels[to..to + width].copy_from_slice(&other.pixels[from..from + width]);
        }
    }

    /// Fills a rectangle, mixing `colour` in by `alpha` (0..1).
    pub(crate) fn fill(&mut self, area: [usize; 4], colour: Rgb, alpha: f32) {
        let [x, y, width, height] = area;
        for row in y..(y + height).min(self.height) {
            for column in x..(x + width).min(self.width) {
                self.mix(column, row, colour, alpha);
            }
        }
    }

    fn mix(&mut self, x: usize, y: usize, colour: Rgb, alpha: f32) {
        let pixel = &mut self.pixels[y * self.width + x];
        for c in 0..3 {
            let (old, new) = (f32::from(pixel[c]), f32::from(colour[c]));
            pixel[c] = (old + (new - old) * alpha + 0.5) as u8;
        }
    }

    /// Draws a line of text, each font pixel `scale` pixels wide; returns its width. The bitmap is smoothed
    /// between its pixels, which rounds the steps away.
    pub(crate) fn text(
        &mut self,
        x: usize,
        y: usize,
        text: &str,
        scale: usize,
        colour: Rgb,
    ) -> usize {
        let size = scale as f32;
        for (i, c) in text.chars().enumerate() {
            let rows = font::glyph(c);
            // Coordinates are shifted by one so that the empty frame around the glyph has indices too.
            let bit = |column: usize, row: usize| {
                let inside = (1..=5).contains(&column) && (1..=font::HEIGHT).contains(&row);
                if inside && rows[row - 1] >> (5 - column) & 1 == 1 { 1.0 } else { 0.0 }
            };
            let left = x + i * font::ADVANCE * scale;
            for py in 0..font::HEIGHT * scale {
                for px in 0..5 * scale {
                    let (fx, fy) = ((px as f32 + 0.5) / size + 0.5, (py as f32 + 0.5) / size + 0.5);
                    let (column, row) = (fx.floor(), fy.floor());
                    let (u, v) = (fx - column, fy - row);
                    let (column, row) = (column as usize, row as usize);
                    let low = bit(column, row) * (1.0 - u) + bit(column + 1, row) * u;
                    let high = bit(column, row + 1) * (1.0 - u) + bit(column + 1, row + 1) * u;
                    let cover = ((low + (high - low) * v - 0.28) / 0.34).clamp(0.0, 1.0);
                    if cover > 0.0 && left + px < self.width && y + py < self.height {
                        self.mix(left + px, y + py, colour, cover);
                    }
                }
            }
        }
        text_width(text, scale)
    }
}

/// Width of a line of text in pixels.
pub(crate) fn text_width(text: &str, scale: usize) -> usize {
    (text.chars().count() * font::ADVANCE).saturating_sub(1) * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn png_reads_back() {
        let mut image = Image::new(40, 12, [250, 250, 250]);
        image.text(2, 2, "t = 1", 1, [10, 20, 30]);
        let mut bytes = Vec::new();
        image.encode_png(&mut bytes).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (40, 12));
        assert_eq!(pixels, image.pixels.as_flattened());
        assert!(image.pixels.contains(&[10, 20, 30]));
    }

    #[test]
    fn drawing_outside_is_cut() {
        let mut image = Image::new(8, 8, [0; 3]);
        image.text(5, 5, "88", 2, [255; 3]);
        image.place(&Image::new(8, 8, [9; 3]), 6, 6);
        assert_eq!(image.pixels[63], [9; 3]);
        assert_eq!(image.pixels[0], [0; 3]);
    }
}
