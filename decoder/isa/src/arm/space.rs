/// An address space: security state and exception level. EL0 shares that of EL1.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Secure EL1 and EL0.
    El1S,
    /// Non-secure EL1 and EL0.
    El1N,
    /// Non-secure EL2.
    El2N,
    /// EL3, where there is no root state.
    El3,
    /// Secure EL2.
    El2S,
    /// Realm EL1 and EL0.
    El1R,
    /// Realm EL2.
    El2R,
    /// Root.
    Root,
}

impl Space {
    /// The space of an exception level in the security state given by bits NS and NSE.
    pub const fn of(el: u8, ns: bool, nse: bool) -> Self {
        match (nse, ns, el) {
            (true, false, _) => Self::Root,
            (true, true, 2) => Self::El2R,
            (true, true, _) => Self::El1R,
            (false, _, 3) => Self::El3,
            (false, true, 2) => Self::El2N,
            (false, false, 2) => Self::El2S,
            (false, true, _) => Self::El1N,
            (false, false, _) => Self::El1S,
        }
    }

    /// The name that OpenCSD uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::El1S => "EL1S",
            Self::El1N => "EL1N",
            Self::El2N => "EL2N",
            Self::El3 => "EL3",
            Self::El2S => "EL2S",
            Self::El1R => "EL1R",
            Self::El2R => "EL2R",
            Self::Root => "Root",
        }
    }
}

/// A set of address spaces.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spaces(u8);

impl Spaces {
    /// All spaces.
    pub const ALL: Self = Self(0xff);

    /// A single space.
    pub const fn of(space: Space) -> Self {
        Self(1u8.wrapping_shl(space as u32))
    }

    /// Parses the name of one or several spaces, such as `EL1N`, `S` for the secure ones, or `ANY`.
    pub fn named(name: &str) -> Option<Self> {
        let all = |spaces: &[Space]| Self(spaces.iter().fold(0, |set, s| set | Self::of(*s).0));
        Some(match name {
            "EL1S" | "SP" => Self::of(Space::El1S),
            "EL1N" | "P" | "NP" => Self::of(Space::El1N),
            "EL1R" => Self::of(Space::El1R),
            "EL2" | "EL2N" | "H" => Self::of(Space::El2N),
            "EL2S" => Self::of(Space::El2S),
            "EL2R" => Self::of(Space::El2R),
            "EL3" => Self::of(Space::El3),
            "ROOT" => Self::of(Space::Root),
            "S" => Self::security(false),
            "N" => Self::security(true),
            "R" => all(&[Space::El1R, Space::El2R]),
            "ANY" => Self::ALL,
            _ => return None,
        })
    }

    /// The secure spaces, or the non-secure ones.
    pub const fn security(ns: bool) -> Self {
        let [a, b, c] = match ns {
            true => [Space::El1N, Space::El2N, Space::El2N],
            false => [Space::El1S, Space::El2S, Space::El3],
        };
        Self(Self::of(a).0 | Self::of(b).0 | Self::of(c).0)
    }

    /// Whether the set contains a space.
    pub const fn contains(self, space: Space) -> bool {
        self.meets(Self::of(space))
    }

    /// Whether the set contains any space of another set.
    #[inline]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The set as a bit mask, one bit per space.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
}
