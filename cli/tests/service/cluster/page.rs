//! `forebay page` of a coordinator.

use super::nodes::Site;
use crate::page::Page;

#[test]
fn the_page_of_a_coordinator_shows_streams_nodes_and_ledgers() {
    let site = Site::start();
    let _nodes = [site.node("one", 20, "epochs = 1"), site.node("two", 20, "epochs = 1")];
    let page = Page::with(&["--coordinator", &site.address()]);
    let streams = page.shows("");
    assert!(streams.contains("Streams of the cluster") && streams.contains(">default&#x2f;train<"), "{streams}");
    let nodes = page.shows("nodes");
    assert!(nodes.contains(">one (process ") && nodes.contains(">two (process ") && nodes.contains("well"), "{nodes}");
    let ledgers = page.shows("ledgers");
    let link = "quarantine?ledger=default%2Ftrain%2Fall&amp;part=1";
    assert!(ledgers.contains(link), "{ledgers}");
    let bad = page.shows(&link.replace("&amp;", "&"));
    assert!(bad.contains("No record was bad."), "{bad}");
    assert_eq!(page.get("quarantine?ledger=nowhere").status, 404);
}
