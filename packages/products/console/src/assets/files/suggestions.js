// Shows tokens below the look-up field while the reader writes a symbol or name. To choose one is to look it up.
(() => {
  const field = document.querySelector('[data-suggestions]');
  if (field === null) return;
  const PAUSE_MS = 150;
  /** Addresses, hashes and block numbers need no suggestion. */
  const WORDS = /^(?!0x)(?!#?\d+$).+/i;
  let timer;
  let latest = '';

  async function suggest(text) {
    const query = new URLSearchParams({ q: text });
    const answer = await fetch(`${field.dataset.suggestions}?${query}`, {
      headers: { accept: 'application/json' },
    });
    if (!answer.ok || text !== latest) return;
    const found = await answer.json();
    if (text === latest) field.list.replaceChildren(...found.map((one) => new Option(one.text, one.address)));
  }

  /** Without suggestions the field works as well. */
  function clear() {
    field.list.replaceChildren();
  }

  field.addEventListener('input', () => {
    clearTimeout(timer);
    const text = field.value.trim();
    latest = text;
    if ([...field.list.options].some(({ value }) => value === text)) field.form.requestSubmit();
    else if (WORDS.test(text)) timer = setTimeout(() => suggest(text).catch(clear), PAUSE_MS);
  });
})();
