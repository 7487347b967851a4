// The presenter's page: the same talk, with notes, hands to count, and the clock.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const me = "presenter";
  const performed = document.body.dataset.performed.split(" ");
  let state = { step: "", done: [], failed: [], choices: [] };
  let place = { slide: "title", shown: -1 };

  let last = Promise.resolve();
  const send = (fields) =>
    fetch("/do", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(fields) })
      .then((answer) => (answer.ok ? null : answer.text().then(say)))
      .catch(() => say("The talk does not answer."));
  const wish = (fields) => (last = last.then(() => send(fields)));
  const say = (text) => {
    $("status").textContent = text;
  };

  const deck = () => document.querySelector(".now iframe").contentWindow;
  // The slides are walked where they are drawn; the talk follows.
  const walk = (method) => {
    const reveal = deck().Reveal;
    reveal?.[method]();
  };
  const acts = {
    next: () => walk("next"),
    back: () => walk("prev"),
    run: () => wish({ name: "run", step: runs() }),
    cancel: () => wish({ name: "cancel" }),
    blank: () => wish({ name: "blank" }),
  };
  const runs = () => {
    const told = (deck().document.getElementById(place.slide)?.dataset.steps ?? "").split(" ");
    const mine = told.filter((each) => performed.includes(each));
    return mine.find((each) => !state.done.includes(each)) ?? mine.at(-1) ?? state.step;
  };
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", acts[button.dataset.do]);
  const keys = { ArrowRight: "next", PageDown: "next", " ": "next", ArrowLeft: "back", PageUp: "back", r: "run", ".": "blank", b: "blank" };
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, button") || !keys[event.key]) return;
    event.preventDefault();
    acts[keys[event.key]]();
  });

  let larger = 1;
  for (const button of document.querySelectorAll("[data-size]"))
    button.addEventListener("click", () => {
      larger = Math.min(2.5, Math.max(0.7, larger * 1.15 ** Number(button.dataset.size)));
      $("notes").style.setProperty("--larger", larger);
    });

  const notes = () => {
    const found = deck().document?.getElementById(place.slide)?.querySelector(".notes");
    $("notes").replaceChildren(...(found ? [...found.cloneNode(true).childNodes] : []));
  };

  const votes = () => {
    const form = $("votes");
    form.hidden = state.kind !== "predict";
    if (form.dataset.step === state.step) return;
    form.dataset.step = state.step;
    form.querySelector("div").replaceChildren(
      ...state.choices.map((choice) => {
        const label = document.createElement("label");
        const input = document.createElement("input");
        Object.assign(input, { type: "number", min: 0, max: 9999, name: choice, inputMode: "numeric" });
        label.append(choice, input);
        return label;
      }),
    );
  };
  $("votes").addEventListener("submit", (event) => {
    event.preventDefault();
    const counted = [...event.target.querySelectorAll("input")].map((input) => [input.name, Number(input.value) || 0]);
    wish({ name: "votes", step: state.step, votes: Object.fromEntries(counted) });
  });

  const minutes = (value) => `${Math.floor(value)}:${String(Math.floor((value % 1) * 60)).padStart(2, "0")}`;
  const clock = (pace) => {
    $("elapsed").textContent = minutes(pace.spent);
    $("ahead").textContent = `${minutes(Math.abs(pace.ahead))} ${pace.ahead < 0 ? "behind" : "ahead"}`;
    $("end").textContent = `ends after ${minutes(pace.total)} of ${minutes(pace.planned)}`;
    $("skip").textContent = pace.skip;
    $("skip").hidden = !pace.skip;
    const section = state.step.split("/")[0];
    $("parts").replaceChildren(
      ...pace.parts.map((part) => {
        const row = document.createElement("tr");
        if (String(part.number) === section) row.setAttribute("aria-current", "true");
        const name = document.createElement("th");
        name.scope = "row";
        name.textContent = `${part.number} ${part.title}`;
        const cells = [minutes(part.planned), minutes(part.spent)].map((text) => {
          const cell = document.createElement("td");
          cell.textContent = text;
          return cell;
        });
        row.append(name, ...cells);
        return row;
      }),
    );
  };

  const news = new EventSource("/events");
  const on = (kind, act) => news.addEventListener(kind, (event) => act(JSON.parse(event.data)));
  on("state", (told) => {
    state = told;
    $("title").textContent = `${state.step} ${state.title}`;
    const running = state.running ? `${state.running}: ${state.progress || "running"}` : "";
    const was = state.failed.includes(state.step) ? "failed" : state.done.includes(state.step) ? "done" : "not run yet";
    say(running || state.message || was);
    votes();
  });
  on("place", (told) => {
    place = told;
    notes();
  });
  on("pace", clock);
  news.addEventListener("error", () => say("The talk does not answer; waiting for it."));
  document.querySelector(".now iframe").addEventListener("load", notes);
})();
