import type { Chain } from '@chainstead/chains';
import { isDeposit } from '@chainstead/chains/fees';
import type { Address, Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type Indexed, type PageBlock, readConsistentPage, type TransactionPosition } from '@chainstead/pages';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import type { BooksOf } from '../../abis/abi-books.ts';
import { type GivenApproval, readApprovals } from '../../approvals/read-approvals.ts';
import { decodeEvidence, evidenceOf } from '../../evidence/decode-evidence.ts';
import type { StoredEvidence } from '../../evidence/token-evidence.ts';
import type { InternalTransactionsByHash } from '../../internal-transactions.ts';
import { decodedCall } from '../../records/decoded-response.ts';
import type { InternalTransactionRecord } from '../../records/internal-transaction-record.ts';
import type { TransactionRecord } from '../../records/transaction-record.ts';
import type { Classification, CoinLeg, WalletTransaction } from '../classification/classification-features.ts';
import { classify } from '../classification/decision-table.ts';
import type { HistoryQuery, PlacedTransaction } from './history-query.ts';
import { readPlaces } from './places-page.ts';
import { type IndexedLegs, readAssetMovements, type ShownNftLeg } from './read-asset-movements.ts';
import { type NamedOnPage, type RelatedToHistory, readRelated } from './related-to-history.ts';

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

interface HistoryReading {
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

export interface SeenTransaction extends WalletTransaction {
  readonly nfts: readonly ShownNftLeg[];
  readonly approvals: readonly GivenApproval[];
}

interface TransactionFacts {
  readonly record: TransactionRecord;
  readonly said: StoredEvidence | null;
  readonly block: number;
  readonly legs: IndexedLegs;
  readonly calls: readonly InternalTransactionRecord[] | null;
  readonly booksOf: BooksOf;
}

/** Pure. A failed transaction moved nothing. */
export function seenByWallet(
  chain: Chain,
  wallet: Address,
  { record, said, block, legs, calls, booksOf }: TransactionFacts,
): SeenTransaction {
  const { from, to } = record;
  const hasFailed = record.status === 0;
  const logs = hasFailed ? [] : record.logs;
  return {
    ...{ wallet, from, to },
    tokens: hasFailed ? [] : legs.tokens,
    status: record.status === null ? null : hasFailed ? 0 : 1,
    method: decodedCall(record, block, booksOf)?.label ?? null,
    selector:
      to === null || record.input.length < SELECTOR_LENGTH ? null : record.input.slice(0, SELECTOR_LENGTH),
    coins: hasFailed
      ? []
      : [...ownValue(chain, wallet, record), ...(legs.inside ?? movedInside(wallet, calls ?? []))],
    nfts: hasFailed ? [] : legs.nfts,
    listed: new Set(),
    approvals: said === null ? readApprovals(wallet, logs, chain) : legs.approvals,
    trades: legs.trades,
    evidence: said?.evidence ?? evidenceOf(decodeEvidence({ from, to, logs }, chain), wallet),
    isTraced: legs.inside !== null || calls !== null,
  };
}

/** NFT contracts have no ERC-20 legs, in any format. */
function withKnownTokens(
  seen: SeenTransaction,
  tokenOf: (token: Address) => Pick<TokenFacts, 'verified' | 'isNft'>,
): SeenTransaction {
  const tokens = seen.tokens.filter(({ token }) => !tokenOf(token).isNft);
  const listed = tokens.flatMap(({ token }) => (tokenOf(token).verified ? [token] : []));
  return { ...seen, tokens, listed: new Set(listed) };
}

const SELECTOR_LENGTH = 10;

function ownValue(
  chain: Chain,
  wallet: Address,
  { type, value, contractAddress, from, to }: TransactionRecord,
): readonly CoinLeg[] {
  const receiver = to ?? contractAddress;
  // The sender of a deposit pays on the chain below.
  const isMinted = isDeposit(type, chain.id);
  const isSide = receiver === wallet || (from === wallet && !isMinted);
  if (value === '0' || receiver === null || !isSide) return [];
  return [{ from, to: receiver, value: BigInt(value), isInternal: false, ...(isMinted && { isMinted }) }];
}

function movedInside(wallet: Address, calls: readonly InternalTransactionRecord[]): readonly CoinLeg[] {
  return calls.flatMap(({ from, to, value, error, isReverted }) => {
    const isSide = from === wallet || to === wallet;
    if (value === '0' || error !== null || isReverted || !isSide) return [];
    return [{ from, to, value: BigInt(value), isInternal: true }];
  });
}
