// What a browser test asks of the slide on screen. Added to the page before the deck's own scripts.
"use strict";
window.checks = (() => {
  const text = (element) => element.textContent.trim().slice(0, 40);
  const name = (element) => `${element.tagName.toLowerCase()}.${element.className} "${text(element)}"`;
  const own = (element) => [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
  // A fragment that is not there yet, or no longer, lies on nothing.
  const seen = (element) => getComputedStyle(element).visibility !== "hidden";
  const drawn = (root) =>
    [...root.querySelectorAll("*")].filter((e) => !e.closest("aside") && e.getClientRects().length > 0 && seen(e));

  const apart = (a, b) => a.right <= b.left + 2 || b.right <= a.left + 2 || a.bottom <= b.top + 4 || b.bottom <= a.top + 4;

  // The boxes of an element's own words, one a line.
  const boxes = (element) =>
    own(element).flatMap((node) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return [...range.getClientRects()];
    });

  function* outside(elements, edge) {
    for (const element of elements) {
      const box = element.getBoundingClientRect();
      if (box.right > edge.right + 1 || box.left < edge.left - 1) yield `beside the slide: ${name(element)}`;
      if (box.bottom > edge.bottom + 1 || box.top < edge.top - 1) yield `above or below the slide: ${name(element)}`;
    }
  }

  // An inline box has no width of its own, and one without any shows nothing.
  function* cut(elements) {
    for (const e of elements) {
      if (getComputedStyle(e).display === "inline" || e.clientWidth === 0) continue;
      if (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1)
        yield `${e.scrollWidth}×${e.scrollHeight} in ${e.clientWidth}×${e.clientHeight}: ${name(e)}`;
    }
  }

  function* small(elements) {
    for (const element of elements) {
      const least = element.closest("pre") ? 18 : 24;
      if (own(element).length && parseFloat(getComputedStyle(element).fontSize) < least) yield `small: ${name(element)}`;
    }
  }

  function* overlapping(elements) {
    const texts = elements.filter((element) => !element.closest("pre") && own(element).length);
    const placed = texts.flatMap((element) => boxes(element).map((box) => [element, box]));
    for (const [i, [a, first]] of placed.entries())
      for (const [b, second] of placed.slice(i + 1))
        if (a !== b && !apart(first, second)) yield `${name(a)} lies on ${name(b)}`;
  }

  const faults = () => {
    const slide = Reveal.getCurrentSlide();
    const elements = drawn(slide);
    const number = document.querySelector(".slide-number");
    return [
      ...outside(elements, slide.getBoundingClientRect()),
      ...cut(elements),
      ...small(elements),
      ...overlapping([...elements, number, ...number.querySelectorAll("*")]),
    ];
  };

  // WCAG 2: relative luminance, then (lighter + 0.05) / (darker + 0.05).
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);

  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };

  const ratio = (element) => {
    const sides = [channels(getComputedStyle(element).color), ground(element)].map(luminance);
    return (Math.max(...sides) + 0.05) / (Math.min(...sides) + 0.05);
  };

  // Texts of all slides that are hard to tell from what lies behind them; notes are not on slides.
  const faint = (least) =>
    [...document.querySelectorAll(".slides section *")]
      .filter((element) => !element.closest(".notes") && own(element).length && ratio(element) < least)
      .map((element) => `${ratio(element).toFixed(2)} ${element.closest("section").id} ${name(element)}`);

  return { faults, faint };
})();
