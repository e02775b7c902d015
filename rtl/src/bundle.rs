//! Signals that belong together: named once, for both of their ends.

/// Width and comment of a signal that a bundle has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Its width in bits.
    pub width: u32,
    /// The comment of a port.
    pub doc: &'static str,
}

impl Wire {
    /// A wire of `width` bits.
    #[must_use]
    pub const fn new(width: u32, doc: &'static str) -> Self {
        Self { width, doc }
    }
}

/// Declares a struct of signals that belong together: ports between two modules, or the fields of a word.
///
/// A field has the name of its signal. `name: Option` is a signal that some configurations only have. The struct has
/// a parameter for what is known of each signal: `Request<Wire>` says how wide it is, `Request<Reg>` has a register for
/// each, and `Request`, which is `Request<Expr>`, has the signals. Order is that of the fields.
///
/// ```
/// use hartrace_rtl::{Component, Module, Reg, Wire, bundle};
///
/// bundle! {
///     /// What is asked for.
///     struct Request { address, time: Option }
/// }
///
/// impl Request<Wire> {
///     fn new(time: u32) -> Self {
///         let time = (time > 0).then(|| Wire::new(time, ""));
///         Self { address: Wire::new(16, "of the step"), time }
///     }
/// }
///
/// fn stage(time: u32) -> Component {
///     let m = Module::new("stage", "").clocked();
///     let load = m.input("load_i", 1, "");
///     let wires = Request::new(time);
///     let from = wires.inputs(&m);
///     let to = wires.outputs(&m);
///     let regs: Request<Reg> = wires.map(|name, wire| m.reg_data(name, wire.width, &load));
///     regs.map(|_, reg| reg.d.clone()).assign(&m, &from);
///     to.assign(&m, &regs.map(|_, reg| reg.q.clone()));
///     m.finish()
/// }
///
/// let names = |of: &Component| of.ports().iter().map(|port| port.name.clone()).collect::<Vec<_>>();
/// assert_eq!(names(&stage(0)), ["clk_i", "rst_ni", "load_i", "address_i", "address_o"]);
/// assert_eq!(names(&stage(8))[3..], ["address_i", "time_i", "address_o", "time_o"]);
/// ```
///
/// A name that no field has does not compile:
///
/// ```compile_fail
/// use hartrace_rtl::{Expr, bundle};
///
/// bundle! {
///     struct Request { address, time: Option }
/// }
///
/// fn low(request: &Request) -> Expr {
///     request.adress.trunc(8)
/// }
/// ```
#[macro_export]
macro_rules! bundle {
    (@type $of:ident) => { $of };
    (@type $of:ident Option) => { Option<$of> };
    (@find $bundle:ident $name:expr, $value:expr) => {
        match $value {
            Some(value) => value,
            None => panic!("{} has no {}", stringify!($bundle), $name),
        }
    };
    (@find $bundle:ident $name:expr, $value:expr, Option) => { $value };
    (@map $name:expr, $field:expr, $value:ident) => { $value($name, $field) };
    (@map $name:expr, $field:expr, $value:ident Option) => {
        $field.as_ref().map(|field| $value($name, field))
    };
    (@zip $left:expr, $right:expr) => { ($left, $right) };
    (@zip $left:expr, $right:expr, Option) => { $left.as_ref().zip($right.as_ref()) };
    (@field $name:expr, $field:expr) => { Some(($name, $field)) };
    (@field $name:expr, $field:expr, Option) => { $field.as_ref().map(|field| ($name, field)) };
    (
        $(#[$meta:meta])*
        $vis:vis struct $bundle:ident { $($field:ident $(: $option:ident)?),+ $(,)? }
    ) => {
        $(#[$meta])*
        $vis struct $bundle<T = $crate::Expr> {
            $(
                #[doc = concat!("The signal `", stringify!($field), "`.")]
                $vis $field: $crate::bundle!(@type T $($option)?),
            )+
        }

        impl<T: Clone> Clone for $bundle<T> {
            fn clone(&self) -> Self {
                self.map(|_, of| of.clone())
            }
        }

        impl<T: ::core::fmt::Debug> ::core::fmt::Debug for $bundle<T> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_map().entries(self.fields()).finish()
            }
        }

        impl<T> $bundle<T> {
            /// A bundle of what `value` finds under each name.
            ///
            /// # Panics
            ///
            /// If it finds nothing for a signal that all configurations have.
            #[track_caller]
            $vis fn find(mut value: impl FnMut(&'static str) -> Option<T>) -> Self {
                Self {
                    $($field: $crate::bundle!(
                        @find $bundle $crate::field_name(stringify!($field)),
                        value($crate::field_name(stringify!($field))) $(, $option)?
                    ),)+
                }
            }

            /// What is known of the signal of this name, if there is one.
            $vis fn get(&self, name: &str) -> Option<&T> {
                self.fields().into_iter().find(|(field, _)| *field == name).map(|(_, of)| of)
            }

            /// The same signals with something else known of each.
            $vis fn map<U>(&self, mut value: impl FnMut(&'static str, &T) -> U) -> $bundle<U> {
                $bundle {
                    $($field: $crate::bundle!(
                        @map $crate::field_name(stringify!($field)), &self.$field, value $($option)?
                    ),)+
                }
            }

            /// Two bundles as one of pairs; it has what both have.
            $vis fn zip<'a, U>(&'a self, other: &'a $bundle<U>) -> $bundle<(&'a T, &'a U)> {
                $bundle {
                    $($field: $crate::bundle!(@zip &self.$field, &other.$field $(, $option)?),)+
                }
            }

            /// The signals that there are, with their names.
            $vis fn fields(&self) -> Vec<(&'static str, &T)> {
                let fields = [
                    $($crate::bundle!(
                        @field $crate::field_name(stringify!($field)), &self.$field $(, $option)?
                    ),)+
                ];
                fields.into_iter().flatten().collect()
            }
        }

        impl $bundle<$crate::Wire> {
            /// Declares each as an input `name_i`.
            #[track_caller]
            $vis fn inputs(&self, m: &$crate::Module) -> $bundle {
                self.map(|name, wire| m.input(&format!("{name}_i"), wire.width, wire.doc))
            }

            /// Declares each as an output `name_o`.
            #[track_caller]
            $vis fn outputs(&self, m: &$crate::Module) -> $bundle {
                self.map(|name, wire| m.output(&format!("{name}_o"), wire.width, wire.doc))
            }

            /// Declares a signal `name` for each, to be driven later.
            #[track_caller]
            $vis fn wires(&self, m: &$crate::Module) -> $bundle {
                self.map(|name, wire| m.wire(name, wire.width))
            }

            /// The number of bits of all together.
            $vis fn width(&self) -> u32 {
                self.fields().iter().map(|(_, wire)| wire.width).sum()
            }

            /// Where each is in a word, the first one in its lowest bits: its lowest bit and its width.
            $vis fn places(&self) -> $bundle<(u32, u32)> {
                let mut at = 0;
                self.map(|_, wire| {
                    at += wire.width;
                    (at - wire.width, wire.width)
                })
            }

            /// The fields of a word, the first one in its lowest bits.
            #[track_caller]
            $vis fn split(&self, word: &$crate::Expr) -> $bundle {
                let (width, given) = (self.width(), word.width());
                assert!(given == width, "a word has {width} bits, not {given}");
                self.places().map(|_, (lo, width)| word.slice(*lo, *width))
            }
        }

        impl $bundle {
            /// The outputs `name_o` of an instance; it may have others.
            ///
            /// # Panics
            ///
            /// If it lacks one that all configurations have.
            #[track_caller]
            $vis fn of(outputs: &$crate::Outputs) -> Self {
                Self::find(|name| outputs.get(&format!("{name}_o")).cloned())
            }

            /// For an instance: connections to its inputs `name_i`.
            $vis fn to_inputs(&self) -> Vec<(String, $crate::Expr)> {
                let fields = self.fields().into_iter();
                fields.map(|(name, signal)| (format!("{name}_i"), signal.clone())).collect()
            }

            /// Drives each with the value of the same name.
            #[track_caller]
            $vis fn assign(&self, m: &$crate::Module, values: &Self) {
                for (_, (signal, value)) in self.zip(values).fields() {
                    m.assign(signal, *value);
                }
            }

            /// A word of all of them, the first one in its lowest bits.
            $vis fn join(&self) -> $crate::Expr {
                let parts: Vec<&$crate::Expr> =
                    self.fields().into_iter().rev().map(|(_, signal)| signal).collect();
                $crate::concat(&parts)
            }
        }
    };
}

/// The name of a field; `priv` and other words of Rust are written `r#priv`.
#[doc(hidden)]
#[must_use]
pub fn field_name(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}
