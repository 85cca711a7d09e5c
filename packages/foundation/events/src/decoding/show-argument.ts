import { getAddress } from 'viem/utils';
import type { AbiType } from './abi-entry.ts';
import type { DecodedArgument } from './decoded.ts';

export function showArgument(type: AbiType, value: unknown): DecodedArgument {
  const text = isLeaf(type) ? leafText(type, value) : jsonOf(type, value, leafText);
  const shown = { name: type.name, type: type.type, value: text };
  if (type.type !== 'tuple' || type.components === undefined) return shown;
  const members = membersOf(value);
  return { ...shown, components: type.components.map((member, index) => showArgument(member, members[index])) };
}

/** For `jsonb`: lower-case addresses, no NUL, unpaired surrogates as U+FFFD. */
export function storableJson(type: AbiType, value: unknown): string {
  return jsonOf(type, value, (_, leaf) => String(leaf).replaceAll('\0', '').toWellFormed());
}

type LeafText = (type: AbiType, value: unknown) => string;

function jsonOf(type: AbiType, value: unknown, textOfLeaf: LeafText): string {
  if (isLeaf(type)) return JSON.stringify(textOfLeaf(type, value));
  const members = membersOf(value);
  if (type.type.endsWith(']')) {
    const item = { ...type, type: type.type.slice(0, type.type.lastIndexOf('[')) };
    return `[${members.map((member) => jsonOf(item, member, textOfLeaf)).join(',')}]`;
  }
  const { components = [] } = type;
  const shown = components.map((component, index) => jsonOf(component, members[index], textOfLeaf));
  const names = new Set(components.map(({ name }) => name));
  if (names.has('') || names.size < components.length) return `[${shown.join(',')}]`;
  // A member may be called `__proto__`.
  return `{${components.map(({ name }, index) => `${JSON.stringify(name)}:${shown[index]}`).join(',')}}`;
}

function leafText({ type }: AbiType, value: unknown): string {
  const text = String(value);
  return type === 'address' ? getAddress(text) : text;
}

function isLeaf({ type }: AbiType): boolean {
  return type !== 'tuple' && !type.endsWith(']');
}

function membersOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
