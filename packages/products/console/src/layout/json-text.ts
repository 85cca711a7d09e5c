import { parseLosslessJson } from '@chainstead/core';
import { html } from 'hono/html';
import { cut, type Html } from './html.ts';
import { count } from './numbers.ts';

const SHOWN_MAX = 20_000;
const READ_MAX = 200_000;

export function jsonText(text: string, label: string, wholeAt?: string): Html {
  const laidOut = text.length > READ_MAX ? text : JSON.stringify(parseLosslessJson(text), null, 2);
  const beginning = laidOut.slice(0, SHOWN_MAX).split('\n');
  return html`<pre class="json" tabindex="0" role="region" aria-label="${label}">${beginning.map((line) => cut(line, SHOWN_MAX)).join('\n')}</pre>
<p class="soft">${laidOut.length > SHOWN_MAX ? html`First part of ${count(text.length)} characters.` : html`${count(text.length)} characters, formatted.`}
${wholeAt !== undefined && html` <a href="${wholeAt}" download>Original</a>`}</p>`;
}
