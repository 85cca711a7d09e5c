import { html } from 'hono/html';

/** HTML whose values were escaped when it was put together. */
export type Html = ReturnType<typeof html>;

/** Where a condition asks for nothing. */
export const NOTHING: Html = html``;

/** Longest text of strangers that a page shows. Characters. */
const TEXT_MAX = 120;

const LINE_ENDS = /[\t\r\n]+/g;
/** Characters that turn, hide or break what stands around them: controls, marks of direction, line ends. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A text of a chain, a stranger or a user as a page shows it: cut, without marks that could turn the text around it, isolated from that. */
export function shown(text: string, max: number = TEXT_MAX): Html {
  return html`<bdi>${cut(text, max)}</bdi>`;
}

/** As {@link shown}, for attributes and titles. */
export function cut(text: string, max: number = TEXT_MAX): string {
  // Before it is searched: a text may be a megabyte.
  const beginning = text.slice(0, max + 1).toWellFormed();
  const clean = beginning.replaceAll(LINE_ENDS, ' ').replaceAll(UNSEEN, '\ufffd');
  return clean.length > max ? `${clean.slice(0, max - 1).toWellFormed()}…` : clean;
}
