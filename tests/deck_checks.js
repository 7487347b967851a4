// What a browser test asks of the slide on screen. Added to the page before the deck's own scripts.
"use strict";
window.checks = (() => {
  const text = (element) => element.textContent.trim().slice(0, 40);
  const name = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute("class") ?? ""} "${text(element)}"`;
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

  const inDrawing = (element) => Boolean(element.ownerSVGElement);

  // Px of the slide: a drawing may be shown larger or smaller than its text says.
  const size = (element) => {
    const { a, b } = inDrawing(element) ? element.getCTM() : { a: 1, b: 0 };
    return parseFloat(getComputedStyle(element).fontSize) * Math.hypot(a, b) + 0.01;
  };

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
      const least = element.closest("pre, text.code") ? 18 : 24;
      if (own(element).length && size(element) < least) yield `small: ${name(element)}`;
    }
  }

  // An SVG text may be longer than its drawing, which shows it all the same, over what is beside it.
  function* beyond(elements) {
    for (const element of elements) {
      const edge = inDrawing(element) && own(element).length && element.ownerSVGElement.getBoundingClientRect();
      if (edge && boxes(element).some((box) => box.right > edge.right + 2 || box.left < edge.left - 2 || box.bottom > edge.bottom + 8 || box.top < edge.top - 8))
        yield `beyond its drawing: ${name(element)}`;
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
      ...beyond(elements),
      ...overlapping([...elements, number, ...number.querySelectorAll("*")]),
    ];
  };

  // WCAG 2: relative luminance, then (lighter + 0.05) / (darker + 0.05).
  const channels = (colour) => colour.match(/[\d.]+/g).map((part) => part * (colour.startsWith("color(srgb") ? 255 : 1));
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);

  const paint = (element) => getComputedStyle(element)[inDrawing(element) ? "fill" : "color"];

  // The shape of a drawing that a text is written on: the last one below it that is painted there.
  const shape = (text) => {
    const { x, y, width, height } = text.getBBox();
    const middle = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(text.getCTM());
    const holds = (shape) => shape.isPointInFill(middle.matrixTransform(shape.getCTM().inverse()));
    return [...text.ownerSVGElement.querySelectorAll("rect, circle, polygon, path")].findLast(
      (e) => e.compareDocumentPosition(text) & 4 && getComputedStyle(e).fill !== "none" && holds(e),
    );
  };

  const ground = (element) => {
    const below = inDrawing(element) && element.getClientRects().length && shape(element.closest("text"));
    if (below) return channels(getComputedStyle(below).fill);
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };

  const ratio = (element) => {
    const sides = [channels(paint(element)), ground(element)].map(luminance);
    return (Math.max(...sides) + 0.05) / (Math.min(...sides) + 0.05);
  };

  // What reveal.js does not lay out has no places: all slides are laid out for as long as it takes.
  const everywhere = (ask) => {
    const slides = [...document.querySelectorAll(".slides section")];
    const styles = slides.map((slide) => slide.getAttribute("style"));
    for (const slide of slides) slide.style.setProperty("display", "block", "important");
    try {
      return ask();
    } finally {
      for (const [i, slide] of slides.entries()) slide.setAttribute("style", styles[i] ?? "");
    }
  };

  // Texts of all slides that are hard to tell from what lies behind them; notes are not on slides.
  const faint = (least) =>
    everywhere(() =>
      [...document.querySelectorAll(".slides section *")]
        .filter((element) => !element.closest(".notes, title, desc") && own(element).length && ratio(element) < least)
        .map((element) => `${ratio(element).toFixed(2)} ${element.closest("section").id} ${name(element)}`),
    );

  return { faults, faint };
})();
