import { blocksOf, type Indexed, type PageBlock, readBlocks, readUntorn } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type {
  BooksOf,
  InternalTransactionRecord,
  InternalTransactionsByHash,
  StoredEvidence,
  TransactionRecord,
} from '@chainstead/transactions';
import { classify } from '../classification/classify.ts';
import type { Classification } from '../classification/wallet-transaction.ts';
import { type BesideHistory, type NamedOnPage, readBeside } from './beside-history.ts';
import type { HistoryQuery, PlacedTransaction, TransactionPlace } from './history-query.ts';
import { type IndexedLegs, readLegs } from './read-legs.ts';
import { type IndexedPlaces, readPlaces } from './read-places.ts';
import { type SeenTransaction, seenByWallet, withKnownTokens } from './seen-by-wallet.ts';

/** One of a wallet's transactions. */
export interface HistoryRow {
  readonly block: PageBlock;
  readonly record: TransactionRecord;
  /** The calls inside; null where they are not known. */
  readonly calls: readonly InternalTransactionRecord[] | null;
  readonly seen: SeenTransaction;
  readonly classification: Classification;
}

export interface HistoryPage {
  /** At most `query.limit`. */
  readonly rows: readonly HistoryRow[];
  readonly beside: BesideHistory;
  readonly booksOf: BooksOf;
  /** The last place of the page; null where none follows. */
  readonly next: TransactionPlace | null;
  readonly indexed: Indexed;
  /** The newest indexed block; null where there is none. */
  readonly syncedBlock: number | null;
  /** The newest block that the answer could contain: what a cursor pins as its upper bound. */
  readonly newestBlock: number;
  /** Where it is known from what moved inside, of all blocks that were asked for or at least of the page; `none`: it is not. */
  readonly traces: 'indexed' | 'on-demand' | 'none';
}

/** A transaction of which all but its place and the wallet's legs is to be found out. */
export interface WantedTransaction extends PlacedTransaction {
  readonly blockHash: Hash;
  readonly legs: IndexedLegs;
}

/** What was found of it. */
export interface ReadTransaction {
  /** Without logs where what they say is stored. */
  readonly record: TransactionRecord;
  /** What its logs say of the wallet; null: they are in the record. */
  readonly said: StoredEvidence | null;
}

export interface FoundTransaction {
  readonly block: PageBlock;
  readonly record: TransactionRecord;
}

export interface HistoryReading {
  readonly database: ReadDatabase;
  readonly chain: Chain;
  /** Finds transactions, in the order that they are asked in. */
  recordsOf(wanted: readonly WantedTransaction[]): Promise<readonly ReadTransaction[]>;
  /** Finds the calls inside them; null where they are not wanted, or nobody traces. */
  callsOf(found: readonly FoundTransaction[]): Promise<InternalTransactionsByHash>;
  /** Finds the ABIs that they are decoded by. */
  booksFor(found: readonly FoundTransaction[]): Promise<BooksOf>;
  /** Whether documents of NFTs are wanted. */
  readonly withMetadata: boolean;
}

/**
 * A page of a wallet's history: which transactions, what moved of the wallet in each, and what each was.
 * @throws {TornPageError} when a row comes without its block again and again
 */
export async function getWalletHistory(reading: HistoryReading, query: HistoryQuery): Promise<HistoryPage> {
  const { database, chain } = reading;
  const { indexed, isTraced, syncedBlock, places, blockOf, legsAt } = await readUntorn(() =>
    readIndex(database, chain, query),
  );
  const shown = places.slice(0, query.limit);
  const wanted = shown.map((place) => ({
    ...place,
    blockHash: blockOf(placeIn(place)).block_hash,
    legs: legsAt(place),
  }));
  const read = await reading.recordsOf(wanted);
  const found = wanted.flatMap((place, index) => {
    const one = read[index];
    return one === undefined ? [] : [{ ...one, block: blockOf(placeIn(place)), legs: place.legs }];
  });
  const [traced, booksOf] = await Promise.all([reading.callsOf(found), reading.booksFor(found)]);
  const rowsSeen = found.map(({ block, record, legs, said }) => {
    const calls = traced?.get(record.hash) ?? null;
    const known = { record, said, block: block.block_number, legs, calls, booksOf };
    return { block, record, calls, seen: seenByWallet(chain, query.wallet, known) };
  });
  const beside = await readBeside(database, chain, namedBy(rowsSeen, reading.withMetadata));
  const rows = rowsSeen.map((row) => {
    const seen = withKnownTokens(row.seen, beside.tokenOf);
    return { ...row, seen, classification: classify(seen) };
  });
  const newest = places.map(({ blockNumber }) => blockNumber);
  return {
    ...{ rows, beside, booksOf, indexed, syncedBlock },
    traces: isTraced ? 'indexed' : traced === null ? 'none' : 'on-demand',
    next: places.length > query.limit ? (shown.at(-1) ?? null) : null,
    newestBlock: Math.max(syncedBlock ?? 0, ...newest),
  };
}

interface IndexedPage extends IndexedPlaces {
  readonly blockOf: ReturnType<typeof readBlocks>;
  readonly legsAt: (place: TransactionPlace) => IndexedLegs;
}

async function readIndex(database: ReadDatabase, chain: Chain, query: HistoryQuery): Promise<IndexedPage> {
  const { places, indexed, isTraced, syncedBlock } = await readPlaces(database, chain, query);
  const shown = places.slice(0, query.limit);
  const ends = query.order === 'ASC' ? [shown[0], shown.at(-1)] : [shown.at(-1), shown[0]];
  const [first, last] = ends;
  if (first === undefined || last === undefined)
    return { indexed, isTraced, syncedBlock, places, blockOf: readBlocks(null, []), legsAt: () => NO_LEGS };
  const [[row], legsAt] = await Promise.all([
    database.select<{ blocks: string | null }>(`SELECT ${blocksOf('SELECT unnest($2::bigint[])', '$1')} AS blocks`, [
      chain.id,
      shown.map(({ blockNumber }) => blockNumber),
    ]),
    readLegs(
      database,
      chain,
      query.wallet,
      { first, last },
      shown.map(({ blockNumber }) => blockNumber),
    ),
  ]);
  return {
    indexed,
    isTraced,
    syncedBlock,
    places,
    blockOf: readBlocks(row?.blocks ?? null, shown.map(placeIn)),
    legsAt,
  };
}

const NO_LEGS: IndexedLegs = { tokens: [], nfts: [], trades: [], inside: null, approvals: [], said: null };

function placeIn({ blockNumber }: TransactionPlace) {
  return { block_number: blockNumber };
}

/** All that a page names: contracts of its legs and approvals, and accounts. */
function namedBy(rows: readonly Pick<HistoryRow, 'record' | 'seen'>[], withMetadata: boolean): NamedOnPage {
  const seen = rows.map((row) => row.seen);
  const nfts = seen.flatMap((one) => one.nfts);
  // What is approved may be a token of either kind, and who may move it a token too.
  const approvals = seen.flatMap((one) => one.approvals.flatMap(({ token, spender }) => [token, spender]));
  const legs = seen.flatMap((one) => [...one.coins, ...one.tokens, ...one.nfts]);
  const parties = seen.flatMap(({ from, to }) => (to === null ? [from] : [from, to]));
  return {
    tokens: new Set([...seen.flatMap((one) => one.tokens.map(({ token }) => token)), ...approvals]),
    collections: new Set([...nfts.map(({ token }) => token), ...approvals]),
    accounts: new Set([...parties, ...legs.flatMap(({ from, to }) => [from, to]), ...approvals]),
    nfts: withMetadata ? nfts : [],
  };
}
