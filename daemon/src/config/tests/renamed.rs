//! Names of older versions: each is refused, and the error has the name of today.

use super::*;

/// What is said of this line in the table of a stream.
fn said_of(line: &str) -> String {
    let text = format!("[streams.train]\nsource = \"/data\"\nbatch_size = 4\nsize = 8\n{line}\n");
    Config::parse(&text, "forebay.toml").map_or_else(|mistakes| mistakes.to_string(), |_| String::new())
}

#[test]
fn a_renamed_key_of_a_stream_names_the_new_one() {
    for (old, new, value) in [("shard_size", "lease_size", "64"), ("group", "unix_group", "\"trainers\"")] {
        let said = said_of(&format!("{old} = {value}"));
        let told = format!("line 5: streams.train.{old}: is called \"{new}\" now; rename the key.");
        assert!(said.contains(&told), "{said}");
        assert_eq!(said_of(&format!("{new} = {value}")), "");
    }
}

#[test]
fn the_mode_of_older_versions_is_called_groups_and_the_mode_of_today_is_what_a_pixel_has() {
    for value in ["each", "split"] {
        let told = format!("line 5: streams.train.mode: is \"{value}\"; this is called groups = \"{value}\" now.");
        let said = said_of(&format!("mode = \"{value}\""));
        assert!(said.contains(&told), "{said}");
        assert_eq!(said_of(&format!("groups = \"{value}\"")), "");
        let said = train().agree(&json!({ "mode": value })).unwrap_err().to_string();
        assert!(said.contains("this is called groups = "), "{said}");
    }
    assert_eq!(said_of("mode = \"L\""), "");
    assert!(said_of("mode = \"l\"").contains("\"RGB\""));
}

#[test]
fn the_group_of_the_sockets_names_the_new_key_and_is_no_key_where_there_never_was_one() {
    let said = |text: &str| Config::parse(text, "forebay.toml").unwrap_err().to_string();
    let control = said("[control]\ngroup = \"trainers\"\n");
    assert!(control.contains("line 2: control.group: is called \"unix_group\" now; rename the key."), "{control}");
    let ring = said("[ring]\ngroup = \"trainers\"\n");
    assert!(ring.contains("ring.group: is not a key."), "{ring}");
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
