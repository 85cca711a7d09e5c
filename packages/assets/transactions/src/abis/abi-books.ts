import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import {
  type AbiBook,
  type AbiEntry,
  type AbiFunction,
  bookOf,
  bookOfSignatures,
  parseSignature,
  readAbiItem,
  SELECTOR_DIGITS,
  STANDARDS,
} from '@chainstead/events/decoding';
import { type FoundAbis, findStoredAbis, type RequestedEntry, SIGNATURES_MAX } from './find-abis.ts';

/** In order of trust. */
export type BooksOf = (address: string, block: number) => readonly AbiBook[];

export interface AbiBooks {
  forPage(reads: ReadDatabase, chain: Chain, requested: readonly RequestedEntry[]): Promise<BooksOf>;
}

/** For contracts of unknown implementation whose own ABI has no match. */
type OnUnknown = (chain: Chain, unknown: readonly RequestedEntry[]) => void;
export const STANDARDS_ALONE: BooksOf = () => [STANDARDS];

const REMEMBERED_MAX = 5_000;

/** One instance for all routes: hashing takes most of the time. Imports are looked up each time. */
export function createAbiBooks({ onUnknown }: { readonly onUnknown?: OnUnknown } = {}): AbiBooks {
  const signatureNamed = remember(parseSignature);
  const entryWritten = remember((text): AbiEntry | null => {
    const read = readAbiItem(JSON.parse(text));
    return typeof read === 'string' ? null : read;
  });
  function booksBy(source: 'contract' | 'implementation' | 'same-code', rows: FoundAbis['own']) {
    const books = new Map<string, AbiBook>();
    for (const [key, texts] of Map.groupBy(rows, ([key]) => key)) {
      const entries = texts.flatMap(([, text]) => entryWritten(text) ?? []);
      const functions = entries.flatMap(({ kind, entry }) => (kind === 'function' ? [entry] : []));
      const events = entries.flatMap(({ kind, entry }) => (kind === 'event' ? [entry] : []));
      books.set(key, bookOf(source, { functions, events }));
    }
    return books;
  }

  return {
    async forPage(reads, chain, requested) {
      if (requested.length === 0) return STANDARDS_ALONE;
      const found = await findStoredAbis(reads, chain, requested);
      if (found.unknown.length > 0) onUnknown?.(chain, found.unknown);
      const last = [STANDARDS, listBook(found.signatures, signatureNamed)];
      const own = booksBy('contract', found.own);
      const pointedTo = booksBy('implementation', found.pointedTo);
      const sameCode = booksBy('same-code', found.sameCode);
      return (address, block) =>
        [own.get(address), pointedTo.get(`${address} ${block}`), sameCode.get(address), ...last].filter(
          (book) => book !== undefined,
        );
    },
  };
}

function listBook(
  signatures: FoundAbis['signatures'],
  signatureNamed: (text: string) => AbiFunction | null,
): AbiBook {
  const bySelector = Map.groupBy(signatures, ([selector]) => selector).values();
  const few = [...bySelector].filter(({ length }) => length <= SIGNATURES_MAX).flat();
  return bookOfSignatures(few.flatMap(([, text]) => signatureNamed(text) ?? []));
}

function remember<Meaning>(read: (text: string) => Meaning): (text: string) => Meaning {
  const remembered = new Map<string, Meaning>();
  return (text) => {
    const known = remembered.get(text);
    if (known !== undefined) return known;
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    const meaning = read(text);
    remembered.set(text, meaning);
    return meaning;
  };
}

type Placed<Transaction> = { readonly block: { readonly number: number }; readonly transaction: Transaction };

export function callsOf(
  transactions: readonly Placed<{ readonly to: string | null; readonly input: string }>[],
): RequestedEntry[] {
  return transactions.flatMap(({ block, transaction: { to, input } }) =>
    to === null || input.length < SELECTOR_DIGITS
      ? []
      : [{ address: to, selector: input.slice(0, SELECTOR_DIGITS), block: block.number }],
  );
}

export function eventsOf(
  transactions: readonly Placed<{
    readonly logs: readonly { readonly address: string; readonly topics: readonly string[] }[];
  }>[],
): RequestedEntry[] {
  return transactions.flatMap(({ block, transaction: { logs } }) =>
    logs.flatMap(({ address, topics: [topic0] }) =>
      topic0 === undefined ? [] : [{ address, selector: topic0.slice(0, SELECTOR_DIGITS), block: block.number }],
    ),
  );
}
