//! The transform that carries one operation out with a probability, or leaves the picture alone.

/// Makes the transform of an operation's parameters, beside which it has the probability `p`.
macro_rules! by_chance {
    ($(#[$doc:meta])* $random:ident of $kind:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $random {
            $($(#[$field_doc])* pub $field: $type,)*
            /// Probability from 0 to 1.
            #[serde(default = "crate::number::half")]
            pub p: f64,
        }

        impl $random {
            #[allow(clippy::unused_self, reason = "some operations have no parameters")]
            fn operation(&self) -> $kind {
                $kind { $($field: self.$field,)* }
            }

            pub(crate) fn problem(&self) -> Option<String> {
                self.operation().problem().or_else(|| crate::number::probability_problem(self.p))
            }

            pub(crate) fn draw(
                &self,
                draws: crate::draw::Draws,
                _size: (u32, u32),
                give: &mut dyn FnMut(super::Operation),
            ) {
                if draws.unit(0) < self.p {
                    give(super::Operation::$kind(self.operation()));
                }
            }
        }
    };
}

pub(super) use by_chance;
