/** Changed files with proofs. */
import { createSeededRandom, type SeededRandom } from '@chainstead/testkit';
import { documentDigest, PriceProofError } from '../proof-error.ts';
import { verifyPrice } from '../verify-price.ts';
import { chains, NO_TRUST } from './proven-prices.ts';

/** A file as JSON, whose members a test changes. */
export type File = ReturnType<typeof JSON.parse>;

/** A document as a file has it. */
export const fileOf = (document: unknown): File => JSON.parse(JSON.stringify(document));

/** The document with the digest of its members. */
export function sealed(document: File): File {
  document.proof.digest = documentDigest(document);
  return document;
}

/** Message of the error; null: there is none. @throws for an error of another kind */
export function rejection(verify: () => unknown): string | null {
  try {
    verify();
    return null;
  } catch (error) {
    if (error instanceof PriceProofError || error instanceof SyntaxError) return error.message;
    throw error;
  }
}

/** Number of mutations of each kind. */
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

/** Seeds for which the document is accepted with one other digit anywhere. */
export function acceptedWithOtherDigit(document: unknown): readonly number[] {
  const text = JSON.stringify(document);
  return SEEDS.filter((seed) => {
    const changed = changeDigit(text, createSeededRandom(seed + 1));
    return rejection(() => verifyPrice(JSON.parse(changed), chains, NO_TRUST)) === null;
  });
}

/** Seeds for which the document is accepted with one other digit of its headers or receipts, and a new digest. */
export function acceptedWithOtherEvidence(given: unknown): readonly number[] {
  return SEEDS.filter((seed) => {
    const random = createSeededRandom(1_000 + seed);
    const document = fileOf(given);
    const { headers, receipts } = document.proof;
    const nodes = random.pick<{ nodes: string[] }>(receipts).nodes;
    const list = random.chance(0.5) ? headers : nodes;
    const place = random.integer(0, list.length - 1);
    list[place] = `0x${changeDigit(list[place].slice(2), random)}`;
    return rejection(() => verifyPrice(sealed(document), chains, NO_TRUST)) === null;
  });
}

/** Paths of members of the explanation with which the document is accepted after one changed, with a new digest. */
export function acceptedMembers(given: unknown, root: string): readonly string[] {
  return leavesOf(fileOf(given).explanation[root], [root])
    .filter((path) => {
      const document = fileOf(given);
      const parent = path.slice(0, -1).reduce((node: File, key) => node[key], document.explanation);
      const key = path.at(-1) ?? '';
      parent[key] = otherValue(parent[key]);
      return rejection(() => verifyPrice(sealed(document), chains, NO_TRUST)) === null;
    })
    .map((path) => path.join('.'));
}

function leavesOf(node: File, path: readonly string[]): readonly (readonly string[])[] {
  if (typeof node !== 'object' || node === null) return [path];
  return Object.keys(node).flatMap((key) => leavesOf(node[key], [...path, key]));
}

function otherValue(value: unknown): unknown {
  if (typeof value === 'string') return /^\d+$/.test(value) ? String(BigInt(value) + 1n) : `${value}0`;
  return typeof value === 'number' ? value - 1 : '1';
}

/** Changes a digit or a letter of hexadecimal text to another one of its kind, so that the file keeps its form. */
function changeDigit(text: string, random: SeededRandom): string {
  for (;;) {
    const at = random.integer(0, text.length - 1);
    const before = text[at] ?? '';
    if (!/[0-9a-f]/.test(before)) continue;
    const after = random.pick([...(/\d/.test(before) ? '0123456789' : 'abcdef')].filter((one) => one !== before));
    return text.slice(0, at) + after + text.slice(at + 1);
  }
}
