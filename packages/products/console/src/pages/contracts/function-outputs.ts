import { isAddress } from '@chainstead/core';
import type { AbiType } from '@chainstead/events/decoding';
import { html } from 'hono/html';
import { cut, type Html, record, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';

const TEXT_MAX = 2_000;

/** @param value response of `runContractFunction`: one value, or an object by position */
export function outputsView(outputs: readonly AbiType[], value: unknown, chain: string): Html {
  const [only, ...others] = outputs;
  if (only === undefined) return html`<p role="status">The call succeeded and returns nothing.</p>`;
  const facts = outputs.map((output, index): readonly [string, Html] => [
    cut(output.name || (others.length === 0 ? 'Result' : `#${index}`)),
    valueView(output, others.length === 0 ? value : memberOf(value, index), chain),
  ]);
  return html`<div role="status">${record(facts)}</div>`;
}

function valueView(type: AbiType, value: unknown, chain: string): Html {
  if (typeof value === 'object') return jsonText(JSON.stringify(named(type, value)), type.name || type.type);
  const text = String(value);
  if (type.type === 'string') return shown(text, TEXT_MAX);
  const code = html`<code>${cut(text, TEXT_MAX)}</code>`;
  if (type.type !== 'address' || !isAddress(text)) return code;
  return html`<a href="/console/look-up/address/${text.toLowerCase()}?chain=${encodeURIComponent(chain)}">${code}</a>`;
}

/** Responses have each member of a tuple twice, by position and by name. */
function named(type: AbiType, value: unknown): unknown {
  const { components = [] } = type;
  if (Array.isArray(value)) {
    const item = { ...type, type: type.type.slice(0, type.type.lastIndexOf('[')) };
    return value.map((one: unknown) => named(item, one));
  }
  if (components.length === 0) return value;
  const members = components.map((member, index) => named(member, memberOf(value, index)));
  const names = components.map(({ name }) => name);
  if (names.includes('') || new Set(names).size < names.length) return members;
  return Object.fromEntries(names.map((name, index) => [name, members[index]]));
}

function memberOf(value: unknown, index: number): unknown {
  const members: Readonly<Record<number, unknown>> = Object(value);
  return members[index] ?? null;
}
