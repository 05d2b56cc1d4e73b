//! A connection to one member of etcd, and the calls of etcd's API that are made on it.

use forebay_proto::etcd::auth_client::AuthClient;
use forebay_proto::etcd::kv_client::KvClient;
use forebay_proto::etcd::lease_client::LeaseClient;
use forebay_proto::etcd::{
    AuthenticateRequest, KeyValue, LeaseGrantRequest, LeaseGrantResponse, LeaseKeepAliveRequest, LeaseRevokeRequest,
    RangeRequest, RangeResponse, TxnRequest, TxnResponse,
};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Request, Status};

/// Longest answer, in bytes.
const ANSWER: usize = 64 << 20;

/// See the module.
pub(super) struct Way {
    channel: Channel,
    token: Option<MetadataValue<Ascii>>,
}

impl Way {
    pub(super) fn new(channel: Channel) -> Self {
        Self { channel, token: None }
    }

    /// Gets the token of a user, which all further calls have.
    pub(super) async fn authenticate(&mut self, name: &str, password: String) -> Result<(), Status> {
        let request = AuthenticateRequest { name: name.to_owned(), password };
        let reply = AuthClient::new(self.channel.clone()).authenticate(request).await?.into_inner();
        let token = reply.token.parse().map_err(|_| Status::internal("its token is not ASCII"))?;
        self.token = Some(token);
        Ok(())
    }

    pub(super) async fn range(&mut self, request: RangeRequest) -> Result<RangeResponse, Status> {
        Ok(self.kv().range(self.request(request)).await?.into_inner())
    }

    /// The document under a key.
    pub(super) async fn get(&mut self, key: Vec<u8>) -> Result<Option<KeyValue>, Status> {
        Ok(self.range(RangeRequest { key, ..RangeRequest::default() }).await?.kvs.pop())
    }

    pub(super) async fn txn(&mut self, request: TxnRequest) -> Result<TxnResponse, Status> {
        Ok(self.kv().txn(self.request(request)).await?.into_inner())
    }

    /// A new lease of at least `seconds` seconds.
    pub(super) async fn grant(&mut self, seconds: i64) -> Result<LeaseGrantResponse, Status> {
        let request = self.request(LeaseGrantRequest { ttl: seconds, id: 0 });
        Ok(self.leases().lease_grant(request).await?.into_inner())
    }

    pub(super) async fn revoke(&mut self, lease: i64) -> Result<(), Status> {
        let request = self.request(LeaseRevokeRequest { id: lease });
        self.leases().lease_revoke(request).await.map(drop)
    }

    /// Renews a lease; false if it has expired. It is a single call, because a stream that stays open may end without
    /// notice.
    pub(super) async fn keep_alive(&mut self, lease: i64) -> Result<bool, Status> {
        let request = self.request(tokio_stream::iter([LeaseKeepAliveRequest { id: lease }]));
        let mut answers = self.leases().lease_keep_alive(request).await?.into_inner();
        match answers.message().await? {
            Some(answer) => Ok(answer.ttl > 0),
            None => Err(Status::unavailable("no answer")),
        }
    }

    fn kv(&self) -> KvClient<Channel> {
        KvClient::new(self.channel.clone()).max_decoding_message_size(ANSWER)
    }

    fn leases(&self) -> LeaseClient<Channel> {
        LeaseClient::new(self.channel.clone())
    }

    /// A member that has lost the others must not answer.
    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("hasleader", MetadataValue::from_static("true"));
        if let Some(token) = &self.token {
            request.metadata_mut().insert("token", token.clone());
        }
        request
    }
}
