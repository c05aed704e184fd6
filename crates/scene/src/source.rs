//! The texts a scene is read from, laid out behind one another so that a single byte range says text and place.

use std::ops::Range;
use std::sync::Arc;

/// A text and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Path as the user gave it, or `<command line>`.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// The scene file first, then one text per override of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// Where each text begins, and the text.
    texts: Vec<(usize, Arc<Source>)>,
}

impl Sources {
    /// Appends a text and returns where it begins.
    pub(crate) fn push(&mut self, name: impl Into<String>, text: impl Into<String>) -> usize {
        // One byte apart, so that the end of a text is not the beginning of the next.
        let begin = self.texts.last().map_or(0, |(begin, source)| begin + source.text.len() + 1);
        let source = Source { name: name.into(), text: text.into() };
        self.texts.push((begin, Arc::new(source)));
        begin
    }

    /// The text at a position and the range within it.
    pub(crate) fn locate(&self, span: &Range<usize>) -> (Arc<Source>, Range<usize>) {
        let after = self.texts.partition_point(|(begin, _)| *begin <= span.start).max(1);
        let (begin, source) = &self.texts[after - 1];
        let local = |position: usize| position.saturating_sub(*begin).min(source.text.len());
        (Arc::clone(source), local(span.start)..local(span.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_belongs_to_the_text_it_begins_in() {
        let mut sources = Sources::default();
        assert_eq!(sources.push("a.toml", "dt = 1"), 0);
        assert_eq!(sources.push("<command line>", "dt=2"), 7);
        for (span, name, local) in
            [(0..2, "a.toml", 0..2), (6..6, "a.toml", 6..6), (10..11, "<command line>", 3..4)]
        {
            let (source, range) = sources.locate(&span);
            assert_eq!((source.name.as_str(), range), (name, local));
        }
    }
}
