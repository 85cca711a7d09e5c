import { html } from 'hono/html';
import { cut, type Html } from './html.ts';

export const TOKEN_FIELD = 'token';
export const TOKEN_HEADER = 'x-console-token';

export function changeForm(action: string, token: string, content: Html, label?: string): Html {
  return html`<form method="post" action="${action}" ${label !== undefined && html`aria-label="${label}"`}>
<input type="hidden" name="${TOKEN_FIELD}" value="${token}">${content}</form>`;
}

interface SelectField {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (string | readonly [name: string, shown: string])[];
  readonly chosen: string;
  readonly all?: string;
}

/** Leaves out values that a page would alter for display. */
export function selectField({ name, label, options, chosen, all }: SelectField): Html {
  const entries = options
    .map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
    .filter(([value]) => cut(value) === value);
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">
${all !== undefined && html`<option value="">${all}</option>`}
${entries.map(([value, text]) => html`<option value="${value}" ${value === chosen && html`selected`}>${cut(text)}</option>`)}</select></div>`;
}

export function hidden(fields: Readonly<Record<string, string>>): Html {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${inputs}`;
}

interface TickBox {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  readonly mark: 'checked' | 'required' | false;
  readonly label: Html | string;
}

export function tickBox({ id, name, value, mark, label }: TickBox): Html {
  return html`<label for="${id}"><input type="checkbox" id="${id}" name="${name}" value="${value}" ${mark}> ${label}</label>`;
}
