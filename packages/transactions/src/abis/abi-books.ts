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
import { type FoundAbis, findStoredAbis, type RequestedEntry, SIGNATURES_MAX } from './find-abis.ts';

/** The sources of an ABI that was imported for a contract. */
type ContractSource = 'contract' | 'implementation' | 'same-code';

/** Returns the ABIs that apply to a contract in a block, in order of trust. */
export type BooksOf = (address: string, block: number) => readonly AbiBook[];

/** Imported ABIs for pages of calls and events. */
export interface AbiBooks {
  /** Looks up the entries of a page in one statement. */
  forPage(reads: ReadDatabase, chain: Chain, requested: readonly RequestedEntry[]): Promise<BooksOf>;
}

export interface AbiBooksOptions {
  /** Called with contracts whose implementation is unknown and whose own ABI has no match. @default not called */
  onUnknown?(chain: Chain, unknown: readonly RequestedEntry[]): void;
}

/** Only the standard functions and events that are built in. */
export const STANDARDS_ALONE: BooksOf = () => [STANDARDS];

/** Number of cached parsed texts. Each takes some kilobytes. */
const REMEMBERED_MAX = 5_000;

/**
 * One instance for all routes of a process: parsed texts are cached, as hashing takes most of the time. Imports are
 * looked up each time and apply immediately.
 */
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

function bookFrom(source: ContractSource, known: readonly AbiEntry[]): AbiBook {
  return bookOf(source, {
    functions: known.flatMap((each) => (each.kind === 'function' ? [each.entry] : [])),
    events: known.flatMap((each) => (each.kind === 'event' ? [each.entry] : [])),
  });
}

/** With very many signatures of one selector, the right one can't be determined. */
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

/** Caches the result for each text until too many others were requested. */
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
