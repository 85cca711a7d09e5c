import { html } from 'hono/html';
import { cut, type Html, NOTHING } from './html.ts';

export interface SelectField {
  readonly name: string;
  readonly label: string;
  /** Names as they are sent, or with what is shown instead. */
  readonly options: readonly (string | readonly [name: string, shown: string])[];
  readonly chosen: string;
  /** What an empty choice is called; absent: there is none. */
  readonly all?: string;
}

/** A choice with its label, for a form. What a page can't show as it is, can't be chosen. */
export function selectField({ name, label, options, chosen, all }: SelectField): Html {
  const entries = options
    .map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
    .filter(([value]) => cut(value) === value);
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">
${all === undefined ? NOTHING : html`<option value="">${all}</option>`}
${entries.map(([value, text]) => html`<option value="${value}" ${value === chosen ? html`selected` : NOTHING}>${cut(text)}</option>`)}</select></div>`;
}
