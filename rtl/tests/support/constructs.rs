//! Every construct.
