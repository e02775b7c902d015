/// Declares an enum of field names with the specification's spelling of each.
macro_rules! field_names {
    (
        $(#[$enum_doc:meta])*
        $enum:ident:
        $($(#[$doc:meta])* $variant:ident = $name:literal,)*
    ) => {
        $(#[$enum_doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $enum {
            $($(#[$doc])* $variant,)*
        }

        impl $enum {
            /// Every name.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The specification's spelling.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

pub(crate) use field_names;
