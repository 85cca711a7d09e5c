import type { Chain } from '@chainstead/chains';
import { hexBytes, type ReadDatabase } from '@chainstead/db';
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

/** A call or an event of a page. */
export interface AskedEntry {
  /** That was called, or that emitted the event. */
  readonly address: string;
  /** First four bytes of the call's input, or of the event's topic0. */
  readonly selector: string;
}

/** The ABIs that count for a contract, in the order of trust. */
export type BooksOf = (address: string) => readonly AbiBook[];

/** What operators imported, for pages of calls and events. */
export interface AbiBooks {
  /** Looks up what a page asks for, all in one statement. */
  forPage(reads: ReadDatabase, chain: Pick<Chain, 'id'>, asked: readonly AskedEntry[]): Promise<BooksOf>;
}

/** With nothing but what every program knows. */
export const STANDARDS_ALONE: BooksOf = () => [STANDARDS];

/** Signatures of one selector that are looked at. With more of them, several fit. */
const SIGNATURES_MAX = 64;
/** Texts whose meaning is remembered. One takes some kilobytes. */
const REMEMBERED_MAX = 5_000;

/** One for all routes of a process: what texts mean is remembered, hashes take most of the time. What is imported is looked up each time, and counts at once. */
export function createAbiBooks(): AbiBooks {
  const signatureNamed = remember(parseSignature);
  const entryWritten = remember(readEntry);

  return {
    async forPage(reads, chain, asked) {
      if (asked.length === 0) return STANDARDS_ALONE;
      const { signatures, entries } = await lookUp(reads, chain, asked);
      const guesses = listBook(signatures, signatureNamed);
      const own = Map.groupBy(entries, ([address]) => `0x${address}`);
      const books = new Map(
        [...own].map(([address, rows]) => {
          const known = rows.flatMap(([, text]) => entryWritten(text) ?? []);
          return [address, [contractBook(known), STANDARDS, guesses]] as const;
        }),
      );
      const others = [STANDARDS, guesses];
      return (address) => books.get(address) ?? others;
    },
  };
}

interface FoundEntries {
  readonly signatures: readonly (readonly [selector: string, signature: string])[];
  readonly entries: readonly (readonly [address: string, entry: string])[];
}

/** Selectors and addresses as hexadecimal digits. Each look-up is a range of a primary key. */
async function lookUp(
  reads: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  asked: readonly AskedEntry[],
): Promise<FoundEntries> {
  const pairs = [...new Map(asked.map((each) => [`${each.address} ${each.selector}`, each])).values()];
  const selectors = [...new Set(pairs.map(({ selector }) => selector))];
  const [row] = await reads.select<{
    signatures: FoundEntries['signatures'] | null;
    entries: FoundEntries['entries'] | null;
  }>(
    `SELECT
       (SELECT json_agg(ARRAY[encode(found.selector, 'hex'), found.signature]) FROM (
          SELECT asked.selector, known.signature FROM unnest($1::bytea[]) AS asked (selector),
            LATERAL (SELECT DISTINCT listed.signature FROM imported_signatures AS listed
                     WHERE listed.selector = asked.selector LIMIT ${SIGNATURES_MAX + 1}) AS known) AS found) AS signatures,
       (SELECT json_agg(ARRAY[encode(known.address, 'hex'), known.entry::text] ORDER BY known.address, known.place)
          FROM unnest($2::bytea[], $3::bytea[]) AS asked (address, selector)
          JOIN contract_abi_entries AS known
            ON known.address = asked.address AND known.chain_id = $4 AND known.selector = asked.selector) AS entries`,
    [
      selectors.map(hexBytes),
      pairs.map(({ address }) => hexBytes(address)),
      pairs.map(({ selector }) => hexBytes(selector)),
      chain.id,
    ],
  );
  return { signatures: row?.signatures ?? [], entries: row?.entries ?? [] };
}

function contractBook(known: readonly AbiEntry[]): AbiBook {
  return bookOf('contract', {
    functions: known.flatMap((each) => (each.kind === 'function' ? [each.entry] : [])),
    events: known.flatMap((each) => (each.kind === 'event' ? [each.entry] : [])),
  });
}

/** Of a selector with very many signatures, nobody can tell which one it is. */
function listBook(
  signatures: FoundEntries['signatures'],
  signatureNamed: (text: string) => AbiFunction | null,
): AbiBook {
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
