// Shows a notice if the live part of a page is not live. The server sends it at least every ten seconds; a message changes the part's beat.
(() => {
  const SILENCE_MS = 25_000;
  const live = document.querySelector('[data-live]');
  const notice = document.querySelector('[data-live-notice]');
  if (live === null || notice === null) return;
  const beatOf = () => live.querySelector('[data-beat]')?.dataset.beat;
  let beat = beatOf();
  let heardAt = Date.now();
  /** Reported by the browser: nothing can arrive. */
  let isOffline = false;
  let isLost = false;

  // Other changes are no messages: locale.js renews the ages of times.
  new MutationObserver(() => {
    if (beatOf() === beat) return;
    beat = beatOf();
    heardAt = Date.now();
    isOffline = false;
    if (!isLost) return;
    isLost = false;
    notice.hidden = true;
  }).observe(live, { childList: true, subtree: true, attributes: true, characterData: true });

  function look() {
    // The last message has no beat.
    if (beat === undefined) return;
    if (document.hidden || isLost || !(isOffline || Date.now() - heardAt >= SILENCE_MS)) return;
    isLost = true;
    notice.hidden = false;
    const since = new Intl.DateTimeFormat(undefined, { timeStyle: 'long' }).format(heardAt);
    notice.textContent = `Not live: no update since ${since}. The page reconnects automatically.`;
  }

  setInterval(look, 1_000);
  addEventListener('offline', () => {
    isOffline = true;
    look();
  });
})();
