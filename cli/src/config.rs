//! `forebay config`: prints a commented configuration or the transforms of a recipe, or checks a configuration.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forebay_daemon::config::{Config, Environment};
use forebay_pixels::document::{NAMED, named};
use forebay_printable::printable;
use serde_json::Value;

use crate::failure::Failure;
use crate::pair::value;

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ConfigArgs {
    /// Print a commented configuration with the defaults.
    #[arg(long)]
    example: bool,
    /// Print each key of a stream with its help, type and default, as JSON.
    #[arg(long)]
    schema: bool,
    /// Check a configuration, and whether this machine has the datasets, groups and memory that it names. Every mistake is
    /// reported.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Print the transforms of a recipe, as a configuration has them: `timm_train`, or
    /// `{ name = "timm_train", size = 192 }`. docs/recipes.md lists the recipes.
    #[arg(long, value_name = "RECIPE")]
    recipe: Option<String>,
}

pub(crate) fn run(args: &ConfigArgs) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if let Some(text) = &args.recipe {
        return recipe(&mut out, &value(text));
    }
    if args.schema {
        serde_json::to_writer_pretty(&mut out, &Config::schema()).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    match &args.check {
        None => out.write_all(Config::example().as_bytes())?,
        Some(file) => {
            let name = printable(file).to_string();
            let config = Config::check(&text(file)?, &name, &Environment::of_process())?;
            let streams: Vec<&str> = config.streams.keys().map(String::as_str).collect();
            checked(&mut out, &name, &streams)?;
        }
    }
    Ok(())
}

/// Says that a configuration has no mistakes, and which streams it has.
fn checked(out: &mut impl Write, name: &str, streams: &[&str]) -> io::Result<()> {
    match streams {
        [] => writeln!(out, "{name}: no mistakes, but no [streams.NAME] either."),
        [stream] => writeln!(out, "{name}: no mistakes; 1 stream: {stream}."),
        _ => writeln!(out, "{name}: no mistakes; {} streams: {}.", streams.len(), streams.join(", ")),
    }
}

/// Prints what a stream of a configuration has in place of a recipe.
fn recipe(out: &mut impl Write, value: &Value) -> Result<(), Failure> {
    let lists = named(value).map_err(|mistakes| {
        let told: Vec<String> =
            mistakes.iter().map(|mistake| format!("{}: {}", mistake.key, mistake.problem)).collect();
        Failure::Usage(told.join("\n"))
    })?;
    let name = value.as_str().or_else(|| value["name"].as_str()).expect("it has lists");
    let recipe = NAMED.iter().find(|recipe| recipe.name == name).expect("it has lists");
    writeln!(out, "# {name}, from {}\n# Parameters:", recipe.source)?;
    for (key, default) in recipe.parameters() {
        let default = if default.is_null() { "no default".to_owned() } else { format!("default {default}") };
        writeln!(out, "#   {key}: {default}")?;
    }
    writeln!(out, "[streams.train]")?;
    if lists.normalizes() {
        writeln!(out, "dtype = \"float32\"")?;
    }
    transforms(out, &lists.images)?;
    for (view, list) in &lists.views {
        writeln!(out, "\n[streams.train.views.{view}]")?;
        transforms(out, list)?;
    }
    Ok(())
}

/// Prints a list of transforms, with a line for each.
fn transforms(out: &mut impl Write, list: &[Value]) -> io::Result<()> {
    writeln!(out, "transform = [")?;
    for step in list {
        writeln!(out, "  {},", toml::Value::try_from(step).expect("a list has nothing that TOML lacks"))?;
    }
    writeln!(out, "]")
}

/// Reads a configuration file.
pub(crate) fn read(file: &Path) -> Result<Config, Failure> {
    Ok(Config::parse(&text(file)?, &printable(file).to_string())?)
}

fn text(file: &Path) -> Result<String, Failure> {
    Config::text_of(file).map_err(|error| Failure::Failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_without_mistakes_is_told_with_its_streams() {
        let mut out = Vec::new();
        for streams in [&[][..], &["train"], &["eval", "train"]] {
            checked(&mut out, "forebay.toml", streams).unwrap();
        }
        insta::assert_snapshot!("config_check_text", String::from_utf8(out).unwrap());
    }

    #[test]
    fn a_recipe_is_told_as_a_configuration_has_it() {
        let mut out = Vec::new();
        for text in ["yolo_eval", "{ name = \"dinov2\", local_crops_number = 1 }"] {
            recipe(&mut out, &value(text)).unwrap();
            writeln!(out).unwrap();
        }
        insta::assert_snapshot!("config_recipe_text", String::from_utf8(out).unwrap());
        let refused = recipe(&mut Vec::new(), &value("{ name = \"timm_eval\", size = 0, side = 3 }")).unwrap_err();
        insta::assert_snapshot!("config_recipe_refusal", refused.to_string());
    }
}
