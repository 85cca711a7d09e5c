import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type Indexed, type PageBlock, readConsistentPage, type TransactionPosition } from '@chainstead/pages';
import type { BooksOf } from '../../abis/abi-books.ts';
import type { StoredEvidence } from '../../evidence/evidence-bits.ts';
import type { InternalTransactionsByHash } from '../../internal-transactions.ts';
import type { InternalTransactionRecord } from '../../records/internal-transaction-record.ts';
import type { TransactionRecord } from '../../records/transaction-record.ts';
import { classify } from '../classification/classify.ts';
import type { Classification } from '../classification/wallet-transaction.ts';
import type { HistoryQuery, PlacedTransaction } from './history-query.ts';
import { readPlaces } from './places-page.ts';
import { type IndexedLegs, readAssetMovements } from './read-asset-movements.ts';
import { type NamedOnPage, type RelatedToHistory, readRelated } from './related-to-history.ts';
import { type SeenTransaction, seenByWallet, withKnownTokens } from './seen-by-wallet.ts';

export interface ClassifiedTransaction {
  readonly block: PageBlock;
  readonly record: TransactionRecord;
  readonly calls: readonly InternalTransactionRecord[] | null;
  readonly seen: SeenTransaction;
  readonly classification: Classification;
}

export interface HistoryPage {
  readonly rows: readonly ClassifiedTransaction[];
  readonly related: RelatedToHistory;
  readonly booksOf: BooksOf;
  readonly next: { readonly position: TransactionPosition; readonly upperBound: number } | null;
  readonly indexed: Indexed;
  readonly syncedBlock: number | null;
  /** Internal transfers: known for all requested blocks, or for the page; `none`: unknown. */
  readonly traces: 'indexed' | 'on-demand' | 'none';
}

export interface WantedTransaction extends PlacedTransaction {
  readonly blockHash: Hash;
  readonly legs: IndexedLegs;
}

export interface ReadTransaction {
  readonly record: TransactionRecord;
  /** Null: the record has the logs. */
  readonly said: StoredEvidence | null;
}

export type RecordInBlock = Pick<ClassifiedTransaction, 'block' | 'record'>;

export interface HistoryReading {
  readonly database: ReadDatabase;
  readonly chain: Chain;
  recordsOf(wanted: readonly WantedTransaction[]): Promise<readonly ReadTransaction[]>;
  callsOf(transactions: readonly RecordInBlock[]): Promise<InternalTransactionsByHash>;
  booksFor(transactions: readonly RecordInBlock[]): Promise<BooksOf>;
  readonly withMetadata: boolean;
}

/** @throws {InconsistentPageError} if a row repeatedly lacks its block */
export async function getWalletHistory(reading: HistoryReading, query: HistoryQuery): Promise<HistoryPage> {
  const { database, chain } = reading;
  const { indexed, isTraced, syncedBlock, places, next, blockOf, legsAt } = await readConsistentPage(() =>
    readIndex(database, chain, query),
  );
  const wanted = places.map((place) => ({
    ...place,
    blockHash: blockOf({ block_number: place.block }).block_hash,
    legs: legsAt(place),
  }));
  const records = await reading.recordsOf(wanted);
  const transactions = wanted.flatMap(({ block, legs }, index) => {
    const read = records[index];
    return read === undefined ? [] : [{ ...read, block: blockOf({ block_number: block }), legs }];
  });
  const [traced, booksOf] = await Promise.all([reading.callsOf(transactions), reading.booksFor(transactions)]);
  const rowsSeen = transactions.map(({ block, record, legs, said }) => {
    const calls = traced?.get(record.hash) ?? null;
    const known = { record, said, block: block.block_number, legs, calls, booksOf };
    return { block, record, calls, seen: seenByWallet(chain, query.wallet, known) };
  });
  const related = await readRelated(database, chain, namedBy(rowsSeen, reading.withMetadata));
  const rows = rowsSeen.map((row) => {
    const seen = withKnownTokens(row.seen, related.tokenOf);
    return { ...row, seen, classification: classify(seen) };
  });
  return {
    ...{ rows, related, booksOf, next, indexed, syncedBlock },
    traces: isTraced ? 'indexed' : traced === null ? 'none' : 'on-demand',
  };
}

async function readIndex(database: ReadDatabase, chain: Chain, query: HistoryQuery) {
  const index = await readPlaces(database, chain, query);
  const inOrder = query.order === 'ASC' ? index.places : index.places.toReversed();
  const [first, last] = [inOrder[0], inOrder.at(-1)];
  if (first === undefined || last === undefined) return { ...index, legsAt: () => NO_LEGS };
  const blocks = inOrder.map(({ block }) => block);
  return { ...index, legsAt: await readAssetMovements(database, chain, query.wallet, { first, last }, blocks) };
}

const NO_LEGS: IndexedLegs = { tokens: [], nfts: [], trades: [], inside: null, approvals: [], said: null };

function namedBy(
  rows: readonly Pick<ClassifiedTransaction, 'record' | 'seen'>[],
  withMetadata: boolean,
): NamedOnPage {
  const seen = rows.map((row) => row.seen);
  const nfts = seen.flatMap((transaction) => transaction.nfts);
  // An approved token may be of either kind, and the spender may be a token too.
  const approvals = seen.flatMap(({ approvals: given }) =>
    given.flatMap(({ token, spender }) => [token, spender]),
  );
  const tokens = seen.flatMap((transaction) => transaction.tokens);
  const legs = [...seen.flatMap(({ coins }) => coins), ...tokens, ...nfts];
  const parties = seen.flatMap(({ from, to }) => (to === null ? [from] : [from, to]));
  return {
    tokens: new Set([...tokens.map(({ token }) => token), ...approvals]),
    collections: new Set([...nfts.map(({ token }) => token), ...approvals]),
    accounts: new Set([...parties, ...legs.flatMap(({ from, to }) => [from, to]), ...approvals]),
    nfts: withMetadata ? nfts : [],
  };
}
