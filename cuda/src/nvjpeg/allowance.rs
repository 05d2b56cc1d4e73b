//! What one state of nvJPEG may take of the host's page-locked memory.

use std::sync::Arc;

use super::account::Account;

/// The right to a number of bytes, as long as this value lives.
#[derive(Debug)]
pub(super) struct Allowance {
    account: Arc<Account>,
    bytes: usize,
}

impl Allowance {
    pub(super) fn new(account: &Arc<Account>, bytes: usize) -> Self {
        account.locked().allow(bytes);
        Self { account: Arc::clone(account), bytes }
    }
}

impl Drop for Allowance {
    fn drop(&mut self) {
        self.account.locked().disallow(self.bytes);
    }
}
