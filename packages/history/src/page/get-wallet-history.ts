import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { blocksOf, type Indexed, type PageBlock, readBlocks, readConsistentPage } from '@chainstead/data-api';
import { type ReadDatabase, sql } from '@chainstead/db';
import type {
  BooksOf,
  InternalTransactionRecord,
  InternalTransactionsByHash,
  StoredEvidence,
  TransactionRecord,
} from '@chainstead/transactions';
import { classify } from '../classification/classify.ts';
import type { Classification } from '../classification/wallet-transaction.ts';
import type { HistoryQuery, PlacedTransaction, TransactionPlace } from './history-query.ts';
import { type IndexedLegs, readAssetMovements } from './read-asset-movements.ts';
import { type IndexedPlaces, readPlaces } from './read-places.ts';
import { type NamedOnPage, type RelatedToHistory, readRelated } from './related-to-history.ts';
import { type SeenTransaction, seenByWallet, withKnownTokens } from './seen-by-wallet.ts';

export interface HistoryRow {
  readonly block: PageBlock;
  readonly record: TransactionRecord;
  /** The calls inside; null if unknown. */
  readonly calls: readonly InternalTransactionRecord[] | null;
  readonly seen: SeenTransaction;
  readonly classification: Classification;
}

export interface HistoryPage {
  /** At most `query.limit`. */
  readonly rows: readonly HistoryRow[];
  readonly related: RelatedToHistory;
  readonly booksOf: BooksOf;
  /** The last position of the page; null if no page follows. */
  readonly next: TransactionPlace | null;
  readonly indexed: Indexed;
  /** The newest indexed block; null if there is none. */
  readonly syncedBlock: number | null;
  /** The newest block that the response could contain: a cursor pins it as its upper bound. */
  readonly newestBlock: number;
  /** Whether internal transfers are known, for all requested blocks or at least for the page; `none`: they are not. */
  readonly traces: 'indexed' | 'on-demand' | 'none';
}

/** A transaction of which only the position and the wallet's legs are known. */
export interface WantedTransaction extends PlacedTransaction {
  readonly blockHash: Hash;
  readonly legs: IndexedLegs;
}

export interface ReadTransaction {
  /** Without logs if their evidence is stored. */
  readonly record: TransactionRecord;
  /** Evidence about the wallet in its logs; null: the record has the logs. */
  readonly said: StoredEvidence | null;
}

export interface FoundTransaction {
  readonly block: PageBlock;
  readonly record: TransactionRecord;
}

export interface HistoryReading {
  readonly database: ReadDatabase;
  readonly chain: Chain;
  /** Returns transactions, in request order. */
  recordsOf(wanted: readonly WantedTransaction[]): Promise<readonly ReadTransaction[]>;
  /** Returns the calls inside them; null if they are not requested, or no node traces. */
  callsOf(found: readonly FoundTransaction[]): Promise<InternalTransactionsByHash>;
  booksFor(found: readonly FoundTransaction[]): Promise<BooksOf>;
  /** Whether documents of NFTs are requested. */
  readonly withMetadata: boolean;
}

/**
 * Returns a page of a wallet's history: the transactions, with the wallet's asset movements and the category of each.
 * @throws {InconsistentPageError} if a row repeatedly comes without its block
 */
export async function getWalletHistory(reading: HistoryReading, query: HistoryQuery): Promise<HistoryPage> {
  const { database, chain } = reading;
  const { indexed, isTraced, syncedBlock, places, blockOf, legsAt } = await readConsistentPage(() =>
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
  const related = await readRelated(database, chain, namedBy(rowsSeen, reading.withMetadata));
  const rows = rowsSeen.map((row) => {
    const seen = withKnownTokens(row.seen, related.tokenOf);
    return { ...row, seen, classification: classify(seen) };
  });
  const newest = places.map(({ blockNumber }) => blockNumber);
  return {
    ...{ rows, related, booksOf, indexed, syncedBlock },
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
  const blocks = shown.map(({ blockNumber }) => blockNumber);
  const [[row], legsAt] = await Promise.all([
    database.select<{ blocks: string | null }>(
      sql`SELECT ${blocksOf(sql`SELECT unnest(${blocks}::bigint[])`, chain.id)} AS blocks`,
    ),
    readAssetMovements(database, chain, query.wallet, { first, last }, blocks),
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

/** Returns all addresses and NFTs of a page: contracts of its legs and approvals, and accounts. */
function namedBy(rows: readonly Pick<HistoryRow, 'record' | 'seen'>[], withMetadata: boolean): NamedOnPage {
  const seen = rows.map((row) => row.seen);
  const nfts = seen.flatMap((one) => one.nfts);
  // An approved token may be of either kind, and the spender may be a token too.
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
