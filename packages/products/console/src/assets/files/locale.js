// Formats times and numbers in the reader's language and time zone: a time shows its age, and the exact time on hover. Without scripts, times are in UTC.
(() => {
  const REFRESH_MS = 30_000;
  /** Seconds of a unit, and the age up to which it is used. */
  const UNITS = [
    ['second', 1, 90],
    ['minute', 60, 90 * 60],
    ['hour', 3_600, 36 * 3_600],
    ['day', 86_400, 60 * 86_400],
    ['month', 2_629_746, 548 * 86_400],
    ['year', 31_556_952, Number.POSITIVE_INFINITY],
  ];
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  const relative = new Intl.RelativeTimeFormat();
  const numbers = new Intl.NumberFormat();

  function ageOf(at) {
    const seconds = (at.getTime() - Date.now()) / 1_000;
    const [unit, size] = UNITS.find(([, , max]) => Math.abs(seconds) < max);
    return relative.format(Math.round(seconds / size), unit);
  }

  function write(root) {
    for (const time of root.querySelectorAll('time[datetime]')) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const [title, text] = [exact.format(at), ageOf(at)];
      if (time.title !== title) time.title = title;
      if (time.textContent !== text) time.textContent = text;
    }
    for (const data of root.querySelectorAll('data.n')) {
      const text = numbers.format(Number(data.value));
      if (data.textContent !== text) data.textContent = text;
    }
  }

  write(document);
  setInterval(() => write(document), REFRESH_MS);
  // Parts of the page that arrive later.
  new MutationObserver(() => write(document)).observe(document.body, {
    childList: true,
    subtree: true,
    characterData: true,
    attributeFilter: ['datetime', 'title', 'value'],
  });
})();
