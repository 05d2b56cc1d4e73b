//! Factors of the transform: 2^13 times what the names say.

pub(super) const F_0_211: i16 = 1730;
pub(super) const F_0_298: i16 = 2446;
pub(super) const F_0_390: i16 = 3196;
pub(super) const F_0_509: i16 = 4176;
pub(super) const F_0_541: i16 = 4433;
pub(super) const F_0_601: i16 = 4926;
pub(super) const F_0_720: i16 = 5906;
pub(super) const F_0_765: i16 = 6270;
pub(super) const F_0_850: i16 = 6967;
pub(super) const F_0_899: i16 = 7373;
pub(super) const F_1_061: i16 = 8697;
pub(super) const F_1_175: i16 = 9633;
pub(super) const F_1_272: i16 = 10426;
pub(super) const F_1_451: i16 = 11893;
pub(super) const F_1_501: i16 = 12299;
pub(super) const F_1_847: i16 = 15137;
pub(super) const F_1_961: i16 = 16069;
pub(super) const F_2_053: i16 = 16819;
pub(super) const F_2_172: i16 = 17799;
pub(super) const F_2_562: i16 = 20995;
pub(super) const F_3_072: i16 = 25172;
pub(super) const F_3_624: i16 = 29692;
