// Filters the operations, loads one when it is opened, and sends requests.
const base = new URL('.', document.baseURI);

const operations = [...document.querySelectorAll('details.operation')].map((element) => ({
  element,
  text: (element.querySelector('summary')?.textContent ?? '').toLowerCase() + element.id.toLowerCase(),
}));

document.querySelector('#filter')?.addEventListener('input', ({ target }) => {
  const words = target.value.toLowerCase().split(/\s+/);
  for (const { element, text } of operations) element.hidden = !words.every((word) => text.includes(word));
  for (const section of document.querySelectorAll('main > section'))
    section.hidden = section.querySelector('details.operation:not([hidden])') === null;
});

function openLinked() {
  const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (linked?.matches('details.operation')) {
    linked.open = true;
    linked.scrollIntoView();
  }
}
/** Adds form and fields to an operation. The page itself stays small, so that it shows immediately. */
async function load(element) {
  if (element.dataset.state !== undefined) return;
  element.dataset.state = 'loading';
  try {
    const response = await fetch(new URL(`docs/operations/${encodeURIComponent(element.id)}`, base));
    if (!response.ok) throw new Error(`status ${response.status}`);
    element.insertAdjacentHTML('beforeend', await response.text());
    element.dataset.state = 'loaded';
  } catch (error) {
    delete element.dataset.state;
    element.open = false;
    element.querySelector('summary').title = `Could not be loaded: ${error.message}. Open it again to retry.`;
  }
}

for (const { element } of operations)
  element.addEventListener('toggle', () => {
    if (!element.open) return;
    history.replaceState(null, '', `#${element.id}`);
    void load(element);
  });

addEventListener('hashchange', openLinked);
openLinked();

/** The request of a form: parameters without a value are left out. */
function requestOf(form) {
  const query = new URLSearchParams();
  let path = form.dataset.path.slice(1);
  for (const input of form.querySelectorAll('[data-in]')) {
    const value = input.value.trim();
    if (input.dataset.in === 'path') path = path.replace(`{${input.name}}`, encodeURIComponent(value));
    else if (value !== '') query.append(input.name, value);
  }
  const url = new URL(path, base);
  url.search = query.toString();
  const headers = {};
  const key = document.querySelector('#key').value.trim();
  if (key !== '') headers['x-api-key'] = key;
  const body = form.elements.namedItem('body')?.value;
  if (body !== undefined) headers['content-type'] = 'application/json';
  return { url, init: { method: form.dataset.method, headers, body } };
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** Without the key: a copied line must not carry it along. */
function curlLine({ url, init }) {
  const parts = ['curl', ...(init.method === 'GET' ? [] : ['-X', init.method]), quoted(url.href)];
  if ('x-api-key' in init.headers) parts.push('-H', '"X-API-Key: $API_KEY"');
  if (init.body !== undefined)
    parts.push('-H', quoted('Content-Type: application/json'), '-d', quoted(init.body));
  return parts.join(' ');
}

function block(text) {
  const element = document.createElement('pre');
  element.textContent = text;
  return element;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

document.addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target;
  const output = form.parentElement.querySelector('output');
  const request = requestOf(form);
  const line = document.createElement('p');
  line.textContent = 'Sending …';
  output.hidden = false;
  output.replaceChildren(block(curlLine(request)), line);
  const startedAt = performance.now();
  try {
    const response = await fetch(request.url, request.init);
    const text = await response.text();
    line.textContent = `${response.status} ${response.statusText} · ${Math.round(performance.now() - startedAt)} ms`;
    output.append(block(pretty(text)));
  } catch (error) {
    line.textContent = `The request failed: ${error.message}. Check that the server is running.`;
  }
});
