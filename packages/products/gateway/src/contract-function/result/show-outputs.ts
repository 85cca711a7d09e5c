import type { AbiType } from '@chainstead/events/decoding';
import { getAddress } from 'viem/utils';
import { ContractCallError } from './contract-call-error.ts';

export type ShownValue = string | boolean | null | ShownValue[] | { [member: string]: ShownValue };

const ANSWER_BYTES_MAX = 4_194_304;

interface Measured {
  readonly value: ShownValue;
  readonly bytes: number;
}

/** As web3.js 1.x: null, a value, or an object for several outputs. @throws ContractCallError */
export function showOutputs(outputs: readonly AbiType[], values: readonly unknown[]): ShownValue {
  const [only, ...others] = outputs;
  if (only === undefined) return null;
  return others.length === 0 ? showValue(only, values[0]) : showMembers(outputs, values).value;
}

/** Integers as digits, addresses as EIP-55, tuples with names. @throws as {@link showOutputs} */
export function showValue(type: AbiType, value: unknown): ShownValue {
  return measured(type, value).value;
}

function measured(type: AbiType, value: unknown): Measured {
  if (type.type.endsWith(']')) return showList(type, listOf(value));
  if (type.components !== undefined) return showMembers(type.components, listOf(value));
  const text = type.type === 'address' ? getAddress(String(value)) : String(value);
  const shown = typeof value === 'boolean' ? value : text;
  return { value: shown, bytes: bounded(jsonBytes(shown)) };
}

function showList(type: AbiType, values: readonly unknown[]): Measured {
  const item = { ...type, type: type.type.slice(0, type.type.lastIndexOf('[')) };
  const shown: ShownValue[] = [];
  let bytes = 2;
  for (const element of values) {
    const { value, bytes: own } = measured(item, element);
    bytes = bounded(bytes + own + 1);
    shown.push(value);
  }
  return { value: shown, bytes };
}

function showMembers(types: readonly AbiType[], values: readonly unknown[]): Measured {
  // A member may be called `__proto__`.
  const shown: Record<string, ShownValue> = Object.create(null);
  let bytes = 2;
  const members = types.map((type, index) => {
    const { value, bytes: own } = measured(type, values[index]);
    const named = type.name === '' ? 0 : own + jsonBytes(type.name) + 2;
    bytes = bounded(bytes + named + own + String(index).length + 4);
    return value;
  });
  for (const [index, { name }] of types.entries()) if (name !== '') shown[name] = members[index] ?? null;
  // Behind the names: a member may be called `0`.
  for (const [index, member] of members.entries()) shown[index] = member;
  return { value: shown, bytes };
}

function jsonBytes(value: string | boolean): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function bounded(bytes: number): number {
  if (bytes > ANSWER_BYTES_MAX) throw new ContractCallError('returned more data than a response can hold');
  return bytes;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
