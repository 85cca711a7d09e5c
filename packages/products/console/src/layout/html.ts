import { html } from 'hono/html';

export type Html = ReturnType<typeof html>;

export const NOTHING: Html = html``;
/** No value. Compared by identity. */
export const NONE: Html = html`–`;

const TEXT_MAX = 120;
const LINE_ENDS = /[\t\r\n]+/g;
/** Controls, directional marks and line ends reverse, hide or break text. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** For untrusted text: truncated, no directional marks, isolated. */
export function shown(text: string, max: number = TEXT_MAX): Html {
  return html`<bdi>${cut(text, max)}</bdi>`;
}

export function cut(text: string, max: number = TEXT_MAX): string {
  // Truncated before the search: a text may be a megabyte.
  const beginning = text.slice(0, max + 1).toWellFormed();
  const clean = beginning.replaceAll(LINE_ENDS, ' ').replaceAll(UNSEEN, '\ufffd');
  return clean.length > max ? `${clean.slice(0, max - 1).toWellFormed()}…` : clean;
}

/** A name of parts, such as a table's or a signature: lines break between its words, never within. */
export function nameParts(name: string, max?: number): Html {
  const parts = cut(name, max).split(/(?<=[_.,(])|(?=\/)/);
  return html`<bdi class="parts">${parts.map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}</bdi>`;
}

/** A shortened value that opens: a title needs a mouse. Not inside a paragraph. */
export function opened(brief: Html | string, whole: Html | string): Html {
  return html`<details class="value"><summary>${brief}</summary>${whole}</details>`;
}

/** Leaves out facts whose value is {@link NONE}. */
export function record(facts: readonly (readonly [title: string, value: Html])[]): Html {
  const lines = facts.flatMap(([title, value]) =>
    value === NONE ? [] : html`<div><dt>${title}</dt><dd>${value}</dd></div>`,
  );
  return html`<dl class="record">${lines}</dl>`;
}

export function nextLink(address: string | null, text: string): Html {
  return address === null ? NOTHING : html`<p><a href="${address}" rel="next">${text}</a></p>`;
}
