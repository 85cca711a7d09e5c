import { type Hash, keccak256Hex } from '@chainstead/core';

/** Keccak-256 of sorted JSON without `proof.digest`. Detects accidental changes only. */
export function documentDigest(document: unknown): Hash {
  return keccak256Hex(Buffer.from(canonical(document, [])));
}

function canonical(value: unknown, path: readonly string[]): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, [...path, ''])).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([name, member]) => member !== undefined && [...path, name].join('.') !== 'proof.digest')
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member, [...path, name])}`).join(',')}}`;
}
