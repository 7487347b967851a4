// reveal.js acts on messages from anyone, and its speaker view needs that it does. So only
// messages of windows that belong to this deck get through: whoever holds or opened it, what it
// opened, and the frames in there. Registered before reveal.js, in the capturing phase.
"use strict";
(() => {
  const opened = (source) => source.opener === window;
  const ours = (source) =>
    source === window ||
    (window.parent !== window && source === window.parent) ||
    (window.opener !== null && source === window.opener) ||
    opened(source) ||
    (source.parent !== source && source.parent !== window && opened(source.parent));
  window.addEventListener(
    "message",
    (event) => {
      if (!event.source || !ours(event.source)) event.stopImmediatePropagation();
    },
    true,
  );
})();
