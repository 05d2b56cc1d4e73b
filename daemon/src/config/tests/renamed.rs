//! Names of older versions: each is refused, and the error has the name of today.

use super::*;

/// What is said of this line in the table of a stream.
fn said_of(line: &str) -> String {
    let text = format!("[streams.train]\nsource = \"/data\"\nbatch_size = 4\nsize = 8\n{line}\n");
    Config::parse(&text, "forebay.toml").map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
}

#[test]
fn a_renamed_key_of_a_stream_names_the_new_one() {
    let (old, new) = ("shard_size = 64", "lease_size = 64");
    let said = said_of(old);
    assert!(said.contains("line 5: streams.train.shard_size: is called \"lease_size\" now; rename the key."), "{said}");
    assert_eq!(said_of(new), "");
}

#[test]
fn what_a_loader_gives_under_an_old_name_names_the_new_one() {
    let given = json!({ "source": "/data", "batch_size": 4, "size": 8, "shard_size": 64 });
    let said = loader(&given).unwrap_err().to_string();
    assert!(said.contains("shard_size: is called \"lease_size\" now"), "{said}");
    let said = train().agree(&json!({ "shard_size": 64 })).unwrap_err().to_string();
    assert!(said.contains("shard_size: is called \"lease_size\" now"), "{said}");
}

#[test]
fn the_order_by_grains_has_another_name_in_a_table_and_in_a_loader() {
    let said = said_of("shuffle = \"shard\"");
    assert!(said.contains("streams.train.shuffle: is \"shard\"; give \"grains\", as it is called now."), "{said}");
    assert_eq!(said_of("shuffle = \"grains\""), "");
    let said = train().agree(&json!({ "shuffle": "shard" })).unwrap_err().to_string();
    assert!(said.contains("shuffle: is \"shard\"; give \"grains\", as it is called now."), "{said}");
}
