//! A plan as a document, with everything that was drawn for it, so that another library can carry it out.

use forebay_pixels::{Operation, Plan, Step};
use serde_json::{Value, json};

pub(crate) fn document(plan: &Plan) -> Value {
    let steps: Vec<Value> = plan.steps.iter().map(|step| drawn(*step, (plan.width, plan.height))).collect();
    json!({ "steps": steps, "mirrored": plan.mirrored, "flipped": plan.flipped })
}

/// `AugMix` draws its chains while it works, on a picture of the result's size.
fn drawn(step: Step, size: (u32, u32)) -> Value {
    let Step::Operate(Operation::ChainMix(mixture)) = step else { return json!(step) };
    let (own, chains) = mixture.drawn(size);
    let chains: Vec<Value> =
        chains.iter().map(|(weight, operations)| json!({ "weight": weight, "operations": operations })).collect();
    json!({ "operate": { "aug_mix": { "own": own, "chains": chains } } })
}
