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
  STANDARDS,
} from '@chainstead/decoding';
import { type AskedEntry, type FoundAbis, lookUpAbis, SIGNATURES_MAX } from './look-up-abis.ts';

/** Of an ABI that was imported for a contract. */
type ContractSource = 'contract' | 'implementation' | 'same-code';

/** The ABIs that count for a contract in a block, in the order of trust. */
export type BooksOf = (address: string, block: number) => readonly AbiBook[];

/** What operators imported, for pages of calls and events. */
export interface AbiBooks {
  /** Looks up what a page asks for, all in one statement. */
  forPage(reads: ReadDatabase, chain: Chain, asked: readonly AskedEntry[]): Promise<BooksOf>;
}

export interface AbiBooksOptions {
  /** Is told of contracts of which it is not known whose code they act by, and that no ABI of their own knows. @default nobody is */
  onUnknown?(chain: Chain, unknown: readonly AskedEntry[]): void;
}

/** With nothing but what every program knows. */
export const STANDARDS_ALONE: BooksOf = () => [STANDARDS];

/** Texts whose meaning is remembered. One takes some kilobytes. */
const REMEMBERED_MAX = 5_000;

/** One for all routes of a process: what texts mean is remembered, hashes take most of the time. What is imported is looked up each time, and counts at once. */
export function createAbiBooks({ onUnknown }: AbiBooksOptions = {}): AbiBooks {
  const signatureNamed = remember(parseSignature);
  const entryWritten = remember(readEntry);

  function booksBy(source: ContractSource, found: FoundAbis['own']): ReadonlyMap<string, AbiBook> {
    const rows = [...Map.groupBy(found, ([key]) => key)];
    return new Map(
      rows.map(([key, texts]) => [
        key,
        bookFrom(
          source,
          texts.flatMap(([, text]) => entryWritten(text) ?? []),
        ),
      ]),
    );
  }

  return {
    async forPage(reads, chain, asked) {
      if (asked.length === 0) return STANDARDS_ALONE;
      const found = await lookUpAbis(reads, chain, asked);
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

function bookFrom(source: ContractSource, known: readonly AbiEntry[]): AbiBook {
  return bookOf(source, {
    functions: known.flatMap((each) => (each.kind === 'function' ? [each.entry] : [])),
    events: known.flatMap((each) => (each.kind === 'event' ? [each.entry] : [])),
  });
}

/** Of a selector with very many signatures, nobody can tell which one it is. */
function listBook(signatures: FoundAbis['signatures'], signatureNamed: (text: string) => AbiFunction | null): AbiBook {
  const few = [...Map.groupBy(signatures, ([selector]) => selector).values()].filter(
    ({ length }) => length <= SIGNATURES_MAX,
  );
  return bookOfSignatures(few.flat().flatMap(([, text]) => signatureNamed(text) ?? []));
}

function readEntry(text: string): AbiEntry | null {
  const read = readAbiItem(JSON.parse(text));
  return typeof read === 'string' ? null : read;
}

/** The same of each text, as long as not too many others were asked for. */
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
