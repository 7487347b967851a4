// Keys, themes and passports. Everything works from the keyboard alone.
"use strict";
(() => {
  const root = document.documentElement;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  // A page opened from a file may have no storage at all.
  const remembered = (write) => {
    try {
      return write(localStorage);
    } catch {
      return null;
    }
  };
  const dress = (theme) => {
    root.dataset.theme = theme;
    remembered((storage) => storage.setItem("theme", theme));
  };
  dress(remembered((storage) => storage.getItem("theme")) === "dark" ? "dark" : "light");

  const sheet = () => Reveal.getCurrentSlide()?.querySelector(".passport");
  // Tells of what the slide does not show yet, and would give the answer away.
  const early = (row) => {
    const told = [...Reveal.getCurrentSlide().querySelectorAll(`[data-key~="${row.id}"]`)];
    return told.length > 0 && told.every((figure) => figure.closest(".fragment:not(.visible)"));
  };
  let pinned = false;
  const show = (keys, low) => {
    const panel = sheet();
    if (!panel) return;
    for (const row of panel.querySelectorAll("tbody tr")) {
      row.classList.toggle("asked", keys.includes(row.id));
      row.classList.toggle("early", early(row));
    }
    panel.classList.toggle("one", keys.length > 0);
    panel.classList.toggle("top", low);
    panel.hidden = false;
  };
  const hide = () => {
    pinned = false;
    for (const panel of document.querySelectorAll(".passport:not([hidden])")) panel.hidden = true;
  };
  const toggle = () => {
    if (pinned) return hide();
    cover();
    pinned = true;
    show([], false);
  };
  // The tables behind the charts that the slide shows by now.
  const tables = () =>
    [...Reveal.getCurrentSlide().querySelectorAll(".data")].filter((table) => !table.closest(".fragment:not(.visible)"));
  const cover = () => {
    for (const table of document.querySelectorAll(".data")) table.hidden = true;
  };
  const uncover = () => {
    const closed = tables().every((table) => table.hidden);
    hide();
    cover();
    for (const table of tables()) table.hidden = !closed;
  };
  // The arrow keys read a long passport or table, and else do what they always do.
  const scroll = (by, otherwise) => () => {
    const panel = (pinned && sheet()) || tables().find((table) => !table.hidden);
    if (panel && panel.scrollHeight > panel.clientHeight) panel.scrollBy(0, by);
    else otherwise();
  };

  const asked = (event) => {
    const about = event.target.closest?.("[data-key]");
    if (!about || pinned) return;
    const middle = about.getBoundingClientRect().top + about.getBoundingClientRect().height / 2;
    show(about.dataset.key.split(" "), middle > innerHeight / 2);
  };
  const left = (event) => {
    if (event.target.closest?.("[data-key]") && !pinned) hide();
  };
  for (const name of ["mouseover", "focusin"]) document.addEventListener(name, asked);
  for (const name of ["mouseout", "focusout"]) document.addEventListener(name, left);

  // Clickers send Esc and F5 in turn. Esc closes what is open and does nothing else; F5 comes back
  // to this very slide, which reveal.js would write into the address once a second only.
  const escape = () => {
    hide();
    cover();
    if (Reveal.isOverlayOpen()) Reveal.toggleHelp(false);
  };
  const place = () => {
    const path = "#" + Reveal.getSlidePath();
    try {
      history.replaceState(null, "", path);
    } catch {
      // The browser refuses too many in a short time; reveal.js itself writes the last one.
    }
  };
  // Other slides are drawn nearby, and Tab would wander off into them.
  const enclose = () => {
    for (const slide of Reveal.getSlides()) slide.inert = !Reveal.isOverview() && slide !== Reveal.getCurrentSlide();
  };
  // reveal.js looks for the place of the key on an American keyboard.
  const help = (event) => {
    if (event.key !== "?") return;
    event.stopImmediatePropagation();
    Reveal.toggleHelp();
  };
  document.addEventListener("keydown", help, true);
  // In full screen the browser takes Esc for itself unless it is asked not to.
  document.addEventListener("fullscreenchange", () => {
    if (document.fullscreenElement) navigator.keyboard?.lock?.(["Escape"]).catch(() => {});
  });

  Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0,
    minScale: 0.1,
    maxScale: 4,
    center: false,
    controls: false,
    progress: true,
    slideNumber: "c/t",
    hash: true,
    fragmentInURL: true,
    postMessage: true,
    transition: still ? "none" : "fade",
    transitionSpeed: "fast",
    backgroundTransition: "none",
    jumpToSlide: true,
    keyboard: {
      27: escape,
      38: scroll(-360, () => Reveal.prev()),
      40: scroll(360, () => Reveal.next()),
      68: uncover,
      73: toggle,
      84: () => dress(root.dataset.theme === "dark" ? "light" : "dark"),
    },
    plugins: [RevealNotes],
  });
  Reveal.registerKeyboardShortcut("I", "Where these numbers come from");
  Reveal.registerKeyboardShortcut("D", "The table behind a chart");
  Reveal.registerKeyboardShortcut("T", "Light or dark theme");
  for (const close of [hide, cover]) Reveal.on("slidechanged", close);
  for (const name of ["fragmentshown", "fragmenthidden"]) Reveal.on(name, () => pinned && show([], false));
  for (const name of ["ready", "slidechanged", "overviewshown", "overviewhidden"]) Reveal.on(name, enclose);
  for (const name of ["ready", "slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(name, place);
})();
