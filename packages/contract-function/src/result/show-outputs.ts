import type { AbiType } from '@chainstead/decoding';
import { getAddress } from 'viem/utils';
import { ContractCallError } from './contract-call-error.ts';

/** A value as JSON. */
export type ShownValue = string | boolean | null | ShownValue[] | { [member: string]: ShownValue };

/** Limit for the JSON text of a response: names are repeated in each item of a list, and members of nested tuples double. Bytes. */
const ANSWER_BYTES_MAX = 4_194_304;

/** A value and the length of its JSON text, in bytes. */
interface Measured {
  readonly value: ShownValue;
  readonly bytes: number;
}

/**
 * What a function returned, in the shape of web3.js 1.x: null for nothing, a value for one, an object by places and names for several.
 * @param values as they are decoded by a layout without names
 * @throws ContractCallError for more than can be answered
 */
export function showOutputs(outputs: readonly AbiType[], values: readonly unknown[]): ShownValue {
  const [only, ...others] = outputs;
  if (only === undefined) return null;
  return others.length === 0 ? showValue(only, values[0]) : showMembers(outputs, values).value;
}

/** Integers as decimal digits, addresses as EIP-55 writes them, tuples by places and names. @throws ContractCallError as {@link showOutputs} */
export function showValue(type: AbiType, value: unknown): ShownValue {
  return measured(type, value).value;
}

function measured(type: AbiType, value: unknown): Measured {
  if (type.type.endsWith(']')) return showList(type, listOf(value));
  if (type.components !== undefined) return showMembers(type.components, listOf(value));
  const shown = typeof value === 'boolean' ? value : textOf(type, value);
  return { value: shown, bytes: bounded(jsonBytes(shown)) };
}

function textOf({ type }: AbiType, value: unknown): string {
  return type === 'address' ? getAddress(String(value)) : String(value);
}

function showList(type: AbiType, values: readonly unknown[]): Measured {
  const item = { ...type, type: type.type.slice(0, type.type.lastIndexOf('[')) };
  const shown: ShownValue[] = [];
  let bytes = 2;
  for (const one of values) {
    const { value, bytes: own } = measured(item, one);
    bytes = bounded(bytes + own + 1);
    shown.push(value);
  }
  return { value: shown, bytes };
}

function showMembers(types: readonly AbiType[], values: readonly unknown[]): Measured {
  // Without a prototype, since a member may be called `__proto__`.
  const shown: Record<string, ShownValue> = Object.create(null);
  let bytes = 2;
  const members = types.map((type, place) => {
    const { value, bytes: own } = measured(type, values[place]);
    const named = type.name === '' ? 0 : own + jsonBytes(type.name) + 2;
    bytes = bounded(bytes + named + own + String(place).length + 4);
    return value;
  });
  for (const [place, { name }] of types.entries()) if (name !== '') shown[name] = members[place] ?? null;
  // Behind the names: a member may be called `0`.
  for (const [place, member] of members.entries()) shown[place] = member;
  return { value: shown, bytes };
}

function jsonBytes(value: string | boolean): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** @throws ContractCallError */
function bounded(bytes: number): number {
  if (bytes > ANSWER_BYTES_MAX) throw new ContractCallError('returned more data than a response can hold');
  return bytes;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
