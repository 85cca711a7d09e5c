// Writes times and numbers as the reader's language does; times keep their zone. What is there without script is UTC.
(() => {
  const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  const numbers = new Intl.NumberFormat();

  function write(root) {
    for (const time of root.querySelectorAll('time[datetime]:not([title])')) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      time.title = time.dateTime;
      time.textContent = times.format(at);
    }
    for (const data of root.querySelectorAll('data.n')) {
      const text = numbers.format(Number(data.value));
      if (data.textContent !== text) data.textContent = text;
    }
  }

  write(document);
  // Parts of the page that arrive later.
  new MutationObserver(() => write(document)).observe(document.body, {
    childList: true,
    subtree: true,
    characterData: true,
    attributeFilter: ['datetime', 'title', 'value'],
  });
})();
