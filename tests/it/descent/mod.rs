//! Block descent, by theme: the step itself, contact, the scenes of the article on resting contact.

mod apart;
mod colours;
mod motion;
mod recorded;
mod resting;
