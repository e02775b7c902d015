//! `&a & &b`, `!a`, `a + b`: operators for references and values alike.

use crate::Expr;
use std::ops;

macro_rules! operator {
    ($($trait:ident $method:ident $of:ident)*) => { $(
        impl<T: Into<Expr>> ops::$trait<T> for Expr {
            type Output = Expr;
            #[track_caller]
            fn $method(self, other: T) -> Expr {
                Expr::$of(&self, other)
            }
        }
        impl<T: Into<Expr>> ops::$trait<T> for &Expr {
            type Output = Expr;
            #[track_caller]
            fn $method(self, other: T) -> Expr {
                Expr::$of(self, other)
            }
        }
    )* };
}

operator! {
    Add add add
    Sub sub sub
    BitAnd bitand and
    BitOr bitor or
    BitXor bitxor xor
    Shl shl shl
    Shr shr shr
}

macro_rules! unary {
    ($($trait:ident $method:ident)*) => { $(
        impl ops::$trait for Expr {
            type Output = Expr;
            fn $method(self) -> Expr {
                Expr::$method(&self)
            }
        }
        impl ops::$trait for &Expr {
            type Output = Expr;
            fn $method(self) -> Expr {
                Expr::$method(self)
            }
        }
    )* };
}

unary! {
    Not not
    Neg neg
}
