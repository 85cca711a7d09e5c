import { html, raw } from 'hono/html';
import { z } from 'zod';
import { cut, type Html, NOTHING, prose, shown, type Text } from './html.ts';

export const TOKEN_FIELD = 'token';
export const TOKEN_HEADER = 'x-console-token';

/** @param hidden values that the form sends unseen */
export function changeForm(
  action: string,
  token: string,
  hidden: Readonly<Record<string, string>>,
  content: Html,
  label?: string,
): Html {
  return html`<form method="post" action="${action}" ${label !== undefined && html`aria-label="${label}"`}>
${hiddenInputs({ [TOKEN_FIELD]: token, ...hidden })}${content}</form>`;
}

/** Its values are in the address of the page that it opens. */
export function queryForm(
  action: string,
  label: string,
  content: Text | readonly Html[],
  submit: Html = button('Show', 'quiet'),
): Html {
  return html`<form method="get" action="${action}" class="fields row" aria-label="${label}">
${content}
<div>${submit}</div></form>`;
}

export function button(text: string, kind?: 'quiet' | 'danger' | undefined): Html {
  return html`<button${kind !== undefined && html` class="${kind}"`}>${text}</button>`;
}

export function hiddenInputs(fields: Readonly<Record<string, string>>): Html {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${inputs}`;
}

export interface Control {
  readonly label: Text;
  readonly hint?: Text | undefined;
  /** Lines of a text area. */
  readonly rows?: number;
  /** A whole number. */
  readonly digits?: true;
  /** A box to tick, with the value `yes`. */
  readonly isBox?: true;
  readonly options?: Options | undefined;
  /** Text of the option without a value. */
  readonly all?: string;
  /** What the control accepts. */
  readonly title?: string;
  /** Markup, so never from data. */
  readonly attributes?: string;
}

export type Options = readonly (string | readonly [name: string, shown: string])[];

const controls = new WeakMap<z.core.$ZodType, Control>();

/** A member of a form's schema with its control. */
export function labeled<Schema extends z.core.$ZodType>(control: Control, schema: Schema): Schema {
  controls.set(schema, control);
  return schema;
}

/** A text, empty if it is absent. */
export function textMember(control: Control) {
  return labeled(control, z.string().default(''));
}

/** Values of the boxes that are ticked. */
export function boxesMember() {
  return z
    .union([z.string(), z.array(z.string())])
    .default([])
    .transform((ticked) => [ticked].flat());
}

export interface FieldProblem {
  readonly field: string | null;
  readonly message: string;
}

interface FormFacts extends FieldPlace {
  readonly values: Readonly<Record<string, unknown>>;
  /** Instead of the controls of these members. */
  readonly views?: Readonly<Record<string, Html>>;
  /** Options that depend on the configuration. */
  readonly options?: Readonly<Record<string, Options>>;
}

/** Fields of a form, in the order of its schema: label, hint, control and problems. */
export function formFields({ shape }: z.ZodObject, { values, views, options, ...place }: FormFacts): Html[] {
  return Object.entries(shape).map(([name, schema]) => {
    const [control, view] = [controls.get(schema), views?.[name]];
    if (control === undefined || view !== undefined) return view ?? NOTHING;
    return html`${field(name, { ...control, options: options?.[name] ?? control.options }, values[name], place)}\n`;
  });
}

interface FieldPlace {
  readonly problems?: readonly FieldProblem[];
  /** Start of the ids, for a form that a page has more than once. */
  readonly id?: string;
}

/** @param value undefined: no attribute `value` */
export function field(
  name: string,
  control: Control,
  value?: unknown,
  { problems = [], id: start = '' }: FieldPlace = {},
): Html {
  const { label, hint, rows, isBox, digits, options, all, title, attributes = '' } = control;
  const id = `${start}${name}`;
  const described = describedBy(problems, name, hint === undefined ? 'bare' : 'hinted');
  const hinted = hint !== undefined && html`<p class="hint" id="${id}-hint">${prose(hint)}</p>`;
  const named = html`id="${id}" name="${name}"`;
  if (isBox === true)
    return html`<div><label for="${id}"><input type="checkbox" ${named} value="yes" ${described} ${value === 'yes' && 'checked'} ${raw(attributes)}> ${label}</label>${hinted}</div>`;
  const inputView = (): Html => {
    const kind = digits === true ? html`inputmode="numeric"` : html`type="text"`;
    const text = value !== undefined && html` value="${value}"`;
    const titled = title !== undefined && html`title="${title}"`;
    return html`<input ${named} ${kind}${text} ${raw(attributes)} ${titled} ${described}>`;
  };
  const view =
    options !== undefined
      ? html`<select ${named} ${described}>
${all !== undefined && html`<option value="">${all}</option>`}
${optionViews(options, value)}</select>`
      : rows !== undefined
        ? html`<textarea ${named} rows="${rows}" spellcheck="false" ${raw(attributes)} ${described}>
${value}</textarea>`
        : inputView();
  return html`<div><label for="${id}">${label}</label>${hinted}${view}${problemsAt(problems, name)}</div>`;
}

export function optionViews(options: Options, chosen: unknown): Html[] {
  return (
    options
      .map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
      // A page would alter such a value for display.
      .filter(([key]) => cut(key) === key)
      .map(([key, text]) => html`<option value="${key}" ${key === chosen && 'selected'}>${cut(text)}</option>`)
  );
}

const PROBLEM_MAX = 400;
const PROBLEMS_SHOWN = 20;

export function problemsAt(problems: readonly FieldProblem[], name: string): Html {
  const own = problems.filter((problem) => problem.field === name).slice(0, PROBLEMS_SHOWN);
  if (own.length === 0) return NOTHING;
  return html`<div class="problem" id="${name}-problem">${own.map(({ message }) => html`<p>${shown(message, PROBLEM_MAX)}</p>`)}</div>`;
}

/** For screen readers. Groups can't be invalid, only their fields. */
export function describedBy(
  problems: readonly FieldProblem[],
  name: string,
  kind: 'bare' | 'hinted' | 'group',
): Html {
  const isWrong = problems.some((problem) => problem.field === name);
  const ids = [...(isWrong ? [`${name}-problem`] : []), ...(kind === 'hinted' ? [`${name}-hint`] : [])];
  if (ids.length === 0) return NOTHING;
  return html`${isWrong && kind !== 'group' && html`aria-invalid="true" `}aria-describedby="${ids.join(' ')}"`;
}

export function tickBox(
  name: string,
  value: string,
  mark: boolean | 'required',
  label: Text = value,
  id: string = value,
): Html {
  return html`<label for="${id}"><input type="checkbox" id="${id}" name="${name}" value="${value}" ${mark === true ? 'checked' : mark}> ${label}</label>`;
}
