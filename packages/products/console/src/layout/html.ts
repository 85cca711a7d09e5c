import { html } from 'hono/html';

export type Html = ReturnType<typeof html>;

export const NOTHING: Html = html``;

const TEXT_MAX = 120;
const LINE_ENDS = /[\t\r\n]+/g;
/** Characters that reverse, hide or break the text around them: controls, directional marks, line ends. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Returns untrusted text for display: truncated, without directional marks, and isolated from the text around it. */
export function shown(text: string, max: number = TEXT_MAX): Html {
  return html`<bdi>${cut(text, max)}</bdi>`;
}

export function cut(text: string, max: number = TEXT_MAX): string {
  // Truncated before the search: a text may be a megabyte.
  const beginning = text.slice(0, max + 1).toWellFormed();
  const clean = beginning.replaceAll(LINE_ENDS, ' ').replaceAll(UNSEEN, '\ufffd');
  return clean.length > max ? `${clean.slice(0, max - 1).toWellFormed()}…` : clean;
}
