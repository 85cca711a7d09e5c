import type { Hex } from '@chainstead/core';
import { SELECTOR_DIGITS } from './abi-entry.ts';
import { type AbiEntry, type AbiReading, readAbiItem } from './read-abi-item.ts';

export interface ReadAbi {
  /** In order; one per selector, and per event signature and indexed count (see `everyLayout`). */
  readonly entries: readonly AbiEntry[];
  readonly skipped: ReadonlyMap<string, number>;
}

const ITEMS_MAX = 20_000;

/** ABI, `{ abi }` (Foundry, Hardhat, Truffle) or `{ output: { abi } }` (metadata); else null. */
export function readAbi(document: unknown, reading: AbiReading = {}): ReadAbi | null {
  const items = itemsOf(document);
  if (items === null) return null;
  const entries = new Map<string, AbiEntry>();
  const skipped = new Map<string, number>();
  const skip = (reason: string) => skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  for (const [index, item] of items.entries()) {
    const read = index < ITEMS_MAX ? readPossible(item, reading) : `beyond the first ${ITEMS_MAX}`;
    if (read === null) continue;
    if (typeof read === 'string') {
      skip(read);
      continue;
    }
    const key = keyOf(read, reading);
    if (entries.has(key)) skip('repeated');
    else entries.set(key, read);
  }
  return { entries: [...entries.values()], skipped };
}

/** One is the signature, unless anonymous. */
const TOPICS_MAX = 4;

function readPossible(item: unknown, reading: AbiReading): AbiEntry | string | null {
  const read = readAbiItem(item, reading);
  if (read === null || typeof read === 'string' || read.kind === 'function') return read;
  const indexedMax = read.entry.isAnonymous ? TOPICS_MAX : TOPICS_MAX - 1;
  return indexedCount(read) > indexedMax ? `more than ${indexedMax} indexed arguments` : read;
}

function indexedCount({ entry }: Extract<AbiEntry, { kind: 'event' }>): number {
  return entry.inputs.filter(({ isIndexed }) => isIndexed).length;
}

export function selectorOf({ kind, entry }: AbiEntry): Hex {
  return kind === 'function' ? entry.selector : (entry.topic0.slice(0, SELECTOR_DIGITS) as Hex);
}

function keyOf(read: AbiEntry, { everyLayout = false }: AbiReading): string {
  if (read.kind === 'function') return read.entry.selector;
  const layout = everyLayout ? read.entry.inputs.map(({ isIndexed }) => isIndexed).join() : indexedCount(read);
  return `${read.entry.topic0} ${layout} ${read.entry.isAnonymous}`;
}

/** Null: no ABI. */
export function itemsOf(document: unknown): readonly unknown[] | null {
  const { abi, output }: { abi?: unknown; output?: unknown } = Object(document);
  const { abi: compiled }: { abi?: unknown } = Object(output);
  const items = [document, abi, compiled].find((each) => Array.isArray(each));
  if (!Array.isArray(items) || (items.length > 0 && !items.some(isItem))) return null;
  return items;
}

function isItem(item: unknown): boolean {
  const { type, inputs }: { type?: unknown; inputs?: unknown } = Object(item);
  return typeof type === 'string' || Array.isArray(inputs);
}
