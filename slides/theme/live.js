// This deck is one view of a talk under way: what changes comes in as events, wishes go out.
"use strict";
(() => {
  // Inside the presenter's page: this slide, or the next one; the deck itself has no such view.
  const view = new URLSearchParams(location.search).get("view") ?? "";
  const me = Math.random().toString(36).slice(2);
  const bar = document.getElementById("live");
  const words = bar.querySelector("output");
  const button = bar.querySelector("button");
  let state = { step: "", done: [], failed: [] };
  let following = 0;

  // One after the other: two that are under way at once may arrive in either order.
  let last = Promise.resolve();
  const send = (fields) =>
    fetch("/do", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(fields) })
      .then((answer) => (answer.ok ? null : answer.text().then(say)))
      .catch(() => say("The talk does not answer."));
  const wish = (fields) => (last = last.then(() => send(fields)));
  const say = (text) => {
    words.textContent = text;
  };

  const slide = () => Reveal.getCurrentSlide();
  const told = () => (slide()?.dataset.steps ?? "").split(" ").filter(Boolean);
  const shown = () => Reveal.getIndices().f ?? -1;
  // The step of the last answer that is on screen; before it, the first that the slide tells of.
  const step = () => {
    const answers = [...slide().querySelectorAll("[data-step].fragment.visible")];
    return answers.at(-1)?.dataset.step ?? told()[0] ?? "";
  };
  const performed = () => told().filter((each) => bar.dataset.performed.split(" ").includes(each));
  const runs = () => {
    const mine = performed();
    return mine.find((each) => !state.done.includes(each) && !state.failed.includes(each)) ?? mine.at(-1) ?? "";
  };

  const paint = () => {
    const running = state.running;
    const wanted = running || runs();
    bar.hidden = view !== "" || (!wanted && !state.message);
    bar.dataset.state = running ? "running" : state.failed.includes(wanted) ? "failed" : state.done.includes(wanted) ? "done" : "ready";
    button.hidden = !wanted;
    button.textContent = running ? "cancel" : state.done.includes(wanted) ? "run again" : "run";
    const part = running && state.fraction !== null ? ` ${Math.round(100 * state.fraction)} %` : "";
    say(running ? `${running}: ${state.progress || "running"}${part}` : state.message || wanted);
    bar.style.setProperty("--part", running ? (state.fraction ?? 0) : 0);
  };

  // Fragments stay as they were; reveal.js learns of the new ones.
  const replaced = ({ name, html }) => {
    const old = document.getElementById(name);
    if (!old) return;
    const made = new DOMParser().parseFromString(html, "text/html").getElementById(name);
    if (!made) return;
    const current = old === slide();
    const f = current ? shown() : -1;
    old.replaceChildren(...made.childNodes);
    Reveal.syncSlide(old);
    Reveal.syncFragments(old);
    if (current) {
      const { h, v } = Reveal.getIndices(old);
      following++;
      Reveal.slide(h, v, f);
      following--;
    }
  };

  const follow = (place) => {
    if (place.by === me) return;
    const on = document.getElementById(place.slide);
    const target = view === "next" ? on?.nextElementSibling : on;
    if (!target) return;
    const f = view === "next" ? -1 : place.shown;
    const { h, v } = Reveal.getIndices(target);
    if (target === slide() && shown() === f) return;
    following++;
    Reveal.slide(h, v, f);
    following--;
  };

  // What has been performed is shown: the talk in the terminal went past the question.
  const answer = () => {
    if (view === "next") return;
    const found = [...slide().querySelectorAll("[data-step].fragment:not(.visible)")].find(
      (each) => each.dataset.step === state.step && [...state.done, ...state.failed].includes(state.step),
    );
    if (!found) return;
    const { h, v } = Reveal.getIndices();
    Reveal.slide(h, v, Number(found.dataset.fragmentIndex));
  };

  const moved = () => {
    if (!following && view !== "next") wish({ name: "place", slide: slide().id, shown: shown(), step: step(), by: me });
    paint();
  };

  // A question is answered in no time, and is not what anybody means to cancel.
  const cancels = () => bar.dataset.performed.split(" ").includes(state.running);
  const run = () => wish(cancels() ? { name: "cancel", step: state.running } : { name: "run", step: runs() });
  button.addEventListener("click", run);

  const listen = () => {
    const news = new EventSource("/events");
    const on = (kind, act) => news.addEventListener(kind, (event) => act(JSON.parse(event.data)));
    on("state", (told) => {
      state = told;
      paint();
      answer();
      if (state.blank !== Reveal.isPaused()) Reveal.togglePause(state.blank);
    });
    on("slide", replaced);
    on("place", follow);
    on("trouble", say);
    news.addEventListener("error", () => say("The talk does not answer; waiting for it."));
  };

  Reveal.on("ready", () => {
    if (view === "next") Reveal.configure({ keyboard: false });
    Reveal.addKeyBinding({ keyCode: 82, key: "R", description: "Run this step, or cancel it" }, run);
    for (const name of ["slidechanged", "fragmentshown", "fragmenthidden"]) Reveal.on(name, moved);
    for (const [name, blank] of [["paused", true], ["resumed", false]])
      Reveal.on(name, () => state.blank !== blank && wish({ name: "blank" }));
    listen();
  });
})();
