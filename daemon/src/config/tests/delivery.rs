//! Who gets a batch, and what happens to slow groups.

use forebay_pipeline::settings::{DeliverySettings, GroupPolicy, Slow};

use super::*;

fn delivery(more: &Value) -> Result<DeliverySettings, Mistakes> {
    let mut all = json!({ "source": "/a", "batch_size": 4, "size": 32 });
    let Value::Object(keys) = &mut all else { unreachable!("it is an object") };
    keys.extend(more.as_object().unwrap().clone());
    loader(&all).map(|stream| stream.settings.delivery)
}

#[test]
fn rule_42_each_is_for_streams_without_shards_and_its_keys_are_for_each() {
    let minute = Duration::from_secs(60);
    let split = DeliverySettings { groups: GroupPolicy::Split, group_timeout: minute, slow: Slow::Block };
    assert_eq!(delivery(&json!({})).unwrap(), split);
    let each = json!({ "groups": "each", "group_timeout": "5s", "slow": "evict" });
    let slow = Slow::Evict { after: minute };
    let settings = DeliverySettings { groups: GroupPolicy::Each, group_timeout: Duration::from_secs(5), slow };
    assert_eq!(delivery(&each).unwrap(), settings);
    let evicts = delivery(&json!({ "groups": "each", "slow": "evict", "evict_after": "2s" })).unwrap();
    assert_eq!(evicts.slow, Slow::Evict { after: Duration::from_secs(2) });
    for (more, key, words) in [
        (json!({ "groups": "all" }), "groups", "\"split\""),
        (
            json!({ "groups": "each", "num_shards": 2, "shard_id": 0 }),
            "groups",
            "shards and ranks have one trainer each",
        ),
        (json!({ "group_timeout": "5s" }), "group_timeout", "has an effect only with groups = \"each\""),
        (json!({ "slow": "evict" }), "slow", "has an effect only with groups = \"each\""),
        (json!({ "groups": "each", "evict_after": "5s" }), "evict_after", "has an effect only with slow = \"evict\""),
        (json!({ "groups": "each", "slow": "skip" }), "slow", "\"block\""),
    ] {
        let mistakes = delivery(&more).unwrap_err();
        assert_eq!(keys(&mistakes), [key], "{mistakes}");
        assert!(mistakes.to_string().contains(words), "{mistakes}");
    }
}
