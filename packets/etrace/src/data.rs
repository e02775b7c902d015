//! Data-trace payloads.
