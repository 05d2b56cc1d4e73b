// Asks for this page again every few seconds while somebody sees it, and shows its new <main>. Without this script, the page is the same
// and has a link to reload it.
"use strict";
(() => {
  const silence = document.getElementById("silence");
  const every = 1000 * Number(document.body.dataset.renewedAfter);
  let timer;
  let asking = false;

  // What had the focus has it again: the link to the same page, or the same table.
  function show(main) {
    const old = document.querySelector("main");
    const places = "a, [tabindex]";
    const focused = [...old.querySelectorAll(places)].indexOf(document.activeElement);
    const target = document.activeElement.getAttribute("href");
    const scrolled = [...old.querySelectorAll(".wide")].map((table) => table.scrollLeft);
    old.replaceWith(main);
    main.querySelectorAll(".wide").forEach((table, place) => { table.scrollLeft = scrolled[place] || 0; });
    if (focused >= 0) {
      const all = [...main.querySelectorAll(places)];
      const again = all.find((place) => target && place.getAttribute("href") === target) || all[focused];
      if (again) again.focus({ preventScroll: true });
    }
  }

  async function renew() {
    if (asking) return;
    asking = true;
    // A selection would be lost.
    if (!document.hidden && getSelection().isCollapsed) {
      try {
        const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(20000) });
        const main = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
        silence.hidden = main !== null;
        if (main) show(main);
      } catch {
        silence.hidden = false;
      }
    }
    asking = false;
    timer = setTimeout(renew, every);
  }

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
      clearTimeout(timer);
      renew();
    }
  });
  timer = setTimeout(renew, every);
})();
