//! Several sources, their weights, and repeats.

use forebay_plan::EpochWeights;

use super::*;

fn settings(more: &Value) -> Result<StreamSection, Mistakes> {
    let mut all = json!({ "source": ["/a", "tar:/b.tar"], "batch_size": 4, "size": 32 });
    let Value::Object(all) = &mut all else { unreachable!("it is an object") };
    all.extend(more.as_object().unwrap().clone());
    loader(&Value::Object(all.clone()))
}

#[test]
fn rule_58_a_list_of_sources_may_have_weights_and_one_source_is_as_before() {
    let stream = settings(&json!({})).unwrap();
    assert_eq!(stream.dataset.source.as_deref(), Some(&["/a".to_owned(), "tar:/b.tar".to_owned()][..]));
    assert_eq!((stream.dataset.name().as_str(), &stream.settings.weights), ("/a, tar:/b.tar", &None));
    assert_eq!(stream.settings.repeats.get(), 1);
    let stream = settings(&json!({ "weights": [3, 0.5], "repeats": 2, "shuffle": true })).unwrap();
    let weights = Some(EpochWeights::constant(vec![3.0, 0.5]));
    assert_eq!((stream.settings.weights, stream.settings.repeats.get()), (weights, 2));
    let single = settings(&json!({ "source": "/a" })).unwrap();
    assert_eq!(single.dataset.source, settings(&json!({ "source": ["/a"] })).unwrap().dataset.source);
}

#[test]
fn rule_67_weights_may_change_between_epochs() {
    let stream = settings(&json!({ "weights": [[0, [1, 0]], [7, [0.5, 2]]] })).unwrap();
    let from = |epoch, weights: [f64; 2]| EpochWeights { epoch, weights: weights.to_vec() };
    assert_eq!(stream.settings.weights, Some(vec![from(0, [1.0, 0.0]), from(7, [0.5, 2.0])]));
}

#[test]
fn rule_58_sources_and_weights_that_cannot_be_are_refused_by_key() {
    for (more, key, words) in [
        (json!({ "source": [] }), "source", "a list of such paths"),
        (json!({ "source": ["/a", 7] }), "source", "a list of such paths"),
        (json!({ "source": ["/a", "stream:b"] }), "source", "is \"stream:b\", but a stream cannot be the source"),
        (json!({ "weights": [1.0] }), "weights", "has 1 numbers for 2 sources"),
        (json!({ "weights": [1.0, 0.0] }), "weights", "numbers above 0"),
        (json!({ "weights": [] }), "weights", "numbers above 0"),
        (json!({ "weights": [[0, [1, 1]], 3] }), "weights", "a list of first epochs with their weights"),
        (json!({ "weights": [[0, [1, 1], 3]] }), "weights", "a list of first epochs with their weights"),
        (json!({ "weights": [[-1, [1, 1]]] }), "weights", "a list of first epochs with their weights"),
        (json!({ "weights": [[2, [1, 1]]] }), "weights", "must begin with 0 and rise"),
        (json!({ "weights": [[0, [1, 1]], [3, [1, 2]], [3, [2, 1]]] }), "weights", "must begin with 0 and rise"),
        (json!({ "weights": [[0, [1, 1]], [3, [0, 0]]] }), "weights", "All weights of epoch 3 are 0"),
        (json!({ "weights": [[0, [1, 0]], [3, [2, 0]]] }), "weights", "The weight of source 1 is 0"),
        (json!({ "weights": [[0, [1, 1]], [3, [1, -2]]] }), "weights", "The weight of source 1 is -2"),
        (json!({ "weights": [[0, [1, 1]], [3, [1]]] }), "weights", "has 1 numbers for 2 sources"),
        (json!({ "repeats": 0 }), "repeats", "1 to 32768"),
    ] {
        let mistakes = settings(&more).unwrap_err();
        assert_eq!(keys(&mistakes), [key], "{mistakes}");
        assert!(mistakes.to_string().contains(words), "{mistakes}");
    }
    settings(&json!({ "weights": [1, 1], "repeats": 2, "shuffle": "grains" })).unwrap();
}
