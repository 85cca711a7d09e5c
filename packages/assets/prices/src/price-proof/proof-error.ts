import { defineError, type Hash, keccak256Hex } from '@chainstead/core';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';

export class PriceProofError extends defineError('PRICE_PROOF_INVALID', (place: string, problem: string) => ({
  message: `The price proof is invalid: ${place} ${problem}`,
  facts: { place },
  remedy: 'Request the price with its proof again, from a source that you trust',
})) {}

export class PriceUnprovenError extends defineError('PRICE_UNPROVEN', (facts: number, blocks: number) => ({
  message: `The price rests on ${facts} facts without a proof and ${blocks} block hashes that are not trusted`,
  facts: { facts, blocks },
  remedy: 'Check the listed facts. Pass trusted hashes with --block-hash and --trusted-hashes',
})) {}

type Candidate = PriceExplanation['candidates'][number];

export type CountedPool = { readonly candidate: Candidate; readonly stated: string };

export function countedPools(explanation: PriceExplanation): readonly CountedPool[] {
  const { candidates, hops } = explanation;
  const ofHops = countedHops(explanation).flatMap((hop) =>
    countedOf(hop.candidates, `explanation.hops[${hops.indexOf(hop)}]`),
  );
  return [...countedOf(candidates, 'explanation'), ...ofHops];
}

export function countedHops({ candidates, hops }: PriceExplanation): PriceExplanation['hops'] {
  const sides = new Set(countedOf(candidates, 'explanation').flatMap(({ candidate }) => tokensOf(candidate)));
  return hops.filter(({ token_address: token }) => sides.has(token));
}

function countedOf(candidates: readonly Candidate[], at: string): readonly CountedPool[] {
  return candidates
    .map((candidate, index) => ({ candidate, stated: `${at}.candidates[${index}]` }))
    .filter(({ candidate: { role } }) => role === 'chosen' || role === 'counted');
}

export function tokensOf({ sides }: Candidate): readonly string[] {
  return sides.map(({ token_address: token }) => token);
}

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
