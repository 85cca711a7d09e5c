import type { AbiType } from '@chainstead/decoding';
import { getAddress } from 'viem';

/** A value as JSON. */
export type ShownValue = string | boolean | null | ShownValue[] | { [member: string]: ShownValue };

/**
 * What a function returned, in the shape of web3.js 1.x: null for nothing, a value for one, an object by places and names for several.
 * @param values as they are decoded by a layout without names
 */
export function showOutputs(outputs: readonly AbiType[], values: readonly unknown[]): ShownValue {
  const [only, ...others] = outputs;
  if (only === undefined) return null;
  return others.length === 0 ? showValue(only, values[0]) : showMembers(outputs, values);
}

/** Integers as decimal digits, addresses as EIP-55 writes them, tuples by places and names. */
export function showValue(type: AbiType, value: unknown): ShownValue {
  if (type.type.endsWith(']')) {
    const item = { ...type, type: type.type.slice(0, type.type.lastIndexOf('[')) };
    return listOf(value).map((one) => showValue(item, one));
  }
  if (type.components !== undefined) return showMembers(type.components, listOf(value));
  if (typeof value === 'boolean') return value;
  return type.type === 'address' ? getAddress(String(value)) : String(value);
}

function showMembers(types: readonly AbiType[], values: readonly unknown[]): ShownValue {
  // Without a prototype, since a member may be called `__proto__`.
  const shown: Record<string, ShownValue> = Object.create(null);
  const members = types.map((type, place) => showValue(type, values[place]));
  for (const [place, { name }] of types.entries()) if (name !== '') shown[name] = members[place] ?? null;
  // Behind the names: a member may be called `0`.
  for (const [place, member] of members.entries()) shown[place] = member;
  return shown;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
