import { InvalidParameterError } from '@chainstead/http';
import { html } from 'hono/html';

export type Html = ReturnType<typeof html>;
/** A string is escaped. */
export type Text = Html | string;

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

/** A text of ours: parts between backticks are code. */
export function prose(text: Text): Html {
  if (typeof text !== 'string') return text;
  return html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : code(part)))}`;
}

export function code(text: Text): Html {
  return html`<code>${text}</code>`;
}

/** @param text of ours, as in {@link prose} */
export function paragraph(text: Text): Html {
  return html`<p>${prose(text)}</p>`;
}

/** @param text of ours, as in {@link prose} */
export function note(text: Text): Html {
  return html`<p class="soft">${prose(text)}</p>`;
}

export function soft(text: Text): Html {
  return html`<span class="soft">${text}</span>`;
}

/** @param text of ours, as in {@link prose} */
export function problem(text: Text): Html {
  return html`<p class="problem" role="alert">${prose(text)}</p>`;
}

export function link(address: string, text: Text): Html {
  return html`<a href="${address}">${text}</a>`;
}

export function section(id: string, title: Text, ...content: readonly (Text | false | readonly Html[])[]): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;
}

/** A plot that the page's script draws. @param instead text of ours, for readers without scripts */
export function plot(address: string, instead: Text): Html {
  return html`<div class="card plot" data-plot="${address}">${prose(instead)}</div>`;
}

/** A dash for null. */
export function dash<Value>(value: Value | null, view: (value: Value) => Text): Text {
  return value === null ? NONE : view(value);
}

/** A shortened value that opens: a title needs a mouse. Not inside a paragraph. */
export function opened(brief: Text, whole: Text): Html {
  return html`<details class="value"><summary>${brief}</summary>${whole}</details>`;
}

type Facts = readonly (readonly [title: string, value: Text])[];

/** Leaves out facts whose value is {@link NONE}. */
export function record(facts: Facts): Html {
  const lines = facts.flatMap(([title, value]) =>
    value === NONE ? [] : html`<div><dt>${title}</dt><dd>${value}</dd></div>`,
  );
  return html`<dl class="record">${lines}</dl>`;
}

/** Has a line for each fact, next to each other. @param kind width of the titles */
export function factList(kind: 'narrow' | 'wide' | 'totals' | '', facts: Facts): Html {
  const lines = facts.map(([title, value]) => html`<dt>${title}</dt><dd>${value}</dd>\n`);
  return html`<dl class="facts${kind && ` ${kind}`}">${lines}</dl>`;
}

export function nextLink(address: string | null, text: string): Html {
  return address === null ? NOTHING : html`<p><a href="${address}" rel="next">${text}</a></p>`;
}

export function livePart(path: string, content: Html): Html {
  return html`<p class="notice" role="status" data-live-notice hidden></p>
<div data-live hx-sse:connect="/console/events${path}" hx-swap="innerMorph" hx-config="sse.reconnectMaxDelay:10s" hx-sse:close="end">${beat(content, 0)}</div>`;
}

/** `at` (ms since the epoch) distinguishes unchanged content from a lost connection. */
export function beat(content: Html, at: number): Html {
  return html`<div data-beat="${at}">${content}</div>`;
}

export function refused(parameter: string, given: string, allowed: string): InvalidParameterError {
  return new InvalidParameterError({ parameter, given: cut(given), allowed });
}

/** Null: absent or empty. @throws InvalidParameterError */
export function readChoice<Choice extends string | number>(
  parameter: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | null {
  if (text === undefined || text === '') return null;
  const choice = choices.find((allowed) => String(allowed) === text);
  if (choice !== undefined) return choice;
  throw refused(parameter, text, choices.join(', '));
}

export function writeQuery(members: Readonly<Record<string, string | null | undefined>>): string {
  const entries = Object.entries(members).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

/** RFC 4180, with a line of names first. A text that a spreadsheet would compute gets an apostrophe. */
export function csvText(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
}

/** Starts of formulas. Spreadsheets skip spaces before them. */
const FORMULA = /^\s*[=+\-@\t\r]/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
