//! How the page looks. The policy forbids a browser to run or load anything, should an escape ever be missed.

pub(super) const HEAD: &str = "<!DOCTYPE html>
<html lang=en><head><meta charset=utf-8>
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">
<meta name=viewport content=\"width=device-width, initial-scale=1\">
<meta name=referrer content=no-referrer>
";

pub(super) const STYLE: &str = "<style>
:root { color-scheme: light dark; --ink: #1d2327; --paper: #fcfcfa; --faint: #6b747b; --line: #dfe3e4; --bar: #3f7cac; --odd: #b3401f }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8e9; --paper: #17191b; --faint: #99a1a6; --line: #34393d; --bar: #6aa5d0; --odd: #ef8b66 } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 75rem; margin: 2rem auto; padding: 0 1.5rem }
h1 { font-size: 1.5rem; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .7rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem }
h3 { font-size: 1rem; font-weight: 600; margin: 1.1rem 0 .5rem; overflow-wrap: anywhere }
.cards { display: flex; flex-wrap: wrap; gap: .7rem }
.card { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem 1rem; color: var(--faint); min-width: 5rem }
.card b { display: block; font-size: 1.35rem; color: var(--ink) }
.odd b { color: var(--odd) }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(160px, 1fr)); gap: 1rem }
figure { margin: 0; min-width: 0 }
.frame { height: 160px; display: flex; align-items: center; justify-content: center; background: var(--line); border-radius: .3rem; overflow: hidden }
.frame img { max-width: 100%; max-height: 100%; object-fit: contain }
.none { color: var(--faint); font-size: .85rem }
figcaption { font-size: .8rem; color: var(--faint); overflow-wrap: anywhere; margin-top: .3rem }
figcaption span { color: var(--ink) }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(30rem, 1fr)); gap: 1.2rem }
.charts figcaption { margin: 0 0 .2rem }
svg { width: 100%; height: auto; display: block }
svg rect { fill: var(--bar) }
svg text { fill: var(--faint); font: 11px system-ui, sans-serif }
svg line { stroke: var(--line) }
.bars { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .15rem .8rem; font-size: .85rem; align-items: center }
.bars span { overflow-wrap: anywhere; max-width: 24rem }
.bars div { display: flex; align-items: center; gap: .5rem }
.bars i { background: var(--bar); height: .8rem; border-radius: .15rem; flex: none }
summary { cursor: pointer; font-size: .85rem; margin-top: .5rem }
ul { font-size: .85rem; columns: 2 26rem; padding-left: 1.2rem; overflow-wrap: anywhere }
footer { margin: 3rem 0 1rem; color: var(--faint); font-size: .8rem }
</style>
";
