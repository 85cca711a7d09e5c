import type { Chain } from '@chainstead/chains';
import { type Address, type BlockRange, intersectRanges, mergeRanges, subtractRanges } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { type HistoryStatus, NO_ARCHIVE } from '@chainstead/sync';
import type { OlderMarks, SearchState } from '../records/wallet-transactions-response.ts';
import { accountTransactions } from '../stored/datasets.ts';
import { watchedBlocks } from '../stored/watched-blocks.ts';

/** The blocks with known transactions of a wallet. */
export interface WalletSearch {
  /** Blocks with all its transactions known. Ascending, disjoint. */
  readonly whole: readonly BlockRange[];
  /** Blocks with at least its sent transactions known. Ascending, disjoint. */
  readonly sent: readonly BlockRange[];
  /** Blocks without known sent transactions. Up to the newest indexed block. */
  readonly missing: readonly BlockRange[];
  /**
   * Blocks with known sent transactions whose balances were not searched for other receipts. Up to the newest indexed
   * block.
   */
  readonly unsearched: readonly BlockRange[];
  /** All relevant blocks, up to the newest indexed one. */
  readonly indexed: readonly BlockRange[];
  /** The newest indexed block; null if there is none. */
  readonly newest: number | null;
  /** State of the search for sent transactions. Null: never requested. */
  readonly state: SearchState | null;
  /** State of the search for receipts. Null: never requested. */
  readonly receivedState: SearchState | null;
}

/** Returns whether all transactions that the wallet sent are known up to the newest indexed block. */
export function isAllSentKnown({ missing, newest }: WalletSearch): boolean {
  return newest !== null && missing.length === 0;
}

/**
 * Returns whether its balances need a search: blocks within reorg depth wait, so that several are searched together.
 */
export function areBalancesMissing(
  { unsearched, newest }: WalletSearch,
  { reorgDepthMax }: Pick<Chain, 'reorgDepthMax'>,
): boolean {
  return newest !== null && unsearched.some(({ from, to }) => to > 0 && from < newest - 2 * reorgDepthMax);
}

/**
 * Returns whether the newest blocks of an earlier check, within reorg depth, are searched for sent transactions, and
 * therefore for receipts.
 */
export function areNewestSearched(
  { missing }: WalletSearch,
  { newest }: Pick<WalletSearch, 'newest'>,
  { reorgDepthMax }: Pick<Chain, 'reorgDepthMax'>,
): boolean {
  if (newest === null) return false;
  return intersectRanges(missing, [{ from: newest - reorgDepthMax + 1, to: newest }]).length === 0;
}

/** Returns a response's marks about the wallet's older transactions. */
export function olderMarks(search: WalletSearch, chain: Pick<Chain, 'reorgDepthMax'>): OlderMarks {
  const isSentKnown = isAllSentKnown(search);
  const isSearched = isSentKnown && !areBalancesMissing(search, chain);
  return {
    sent: { complete: isSentKnown, state: search.state },
    received: {
      searched: isSearched,
      exact: isSearched && areOlderWhole(search, chain),
      state: search.receivedState,
    },
  };
}

/**
 * Whether all transactions of the wallet are known except those in the newest blocks, which may be reorganized before
 * they are searched.
 */
function areOlderWhole(
  { whole, indexed, newest }: WalletSearch,
  { reorgDepthMax }: Pick<Chain, 'reorgDepthMax'>,
): boolean {
  return newest !== null && subtractRanges(indexed, whole).every(({ from }) => from >= newest - 2 * reorgDepthMax);
}

interface SearchRow {
  readonly what: 'whole' | 'sent' | 'received' | 'chain';
  readonly first_block: number;
  readonly last_block: number;
}

interface HistoryRow {
  readonly kind: 'sender' | 'receiver';
  readonly status: HistoryStatus;
  readonly error_code: string | null;
}

/**
 * Returns the search state of a wallet.
 * @param from the lowest relevant block.
 * @default the chain's first block
 */
export async function readWalletSearch(
  source: Pick<Database, 'query'>,
  { id, firstBlock }: Pick<Chain, 'id' | 'firstBlock'>,
  wallet: Address,
  from: number = firstBlock,
): Promise<WalletSearch> {
  const subject = sql`${addressBytes(wallet)}::bytea`;
  const dataset = accountTransactions.name;
  const rows = await source.query<SearchRow>(
    sql`SELECT 'whole' AS what, first_block, last_block FROM sync_ranges WHERE chain_id = ${id} AND dataset = ${dataset}
     UNION ALL
     SELECT CASE kind WHEN 'wallet' THEN 'whole' WHEN 'sender' THEN 'sent' ELSE 'received' END, first_block, last_block FROM subject_ranges
      WHERE chain_id = ${id} AND kind IN ('wallet', 'sender', 'receiver') AND subject = ${subject} AND dataset = ${dataset}
     UNION ALL
     SELECT 'whole', first_block, last_block FROM (${watchedBlocks(id, subject)}) AS watched
     UNION ALL
     SELECT 'chain', first_followed, coalesce(checkpoint, first_followed - 1) FROM sync_chains WHERE chain_id = ${id}`,
  );
  const histories = await source.query<HistoryRow>(
    sql`SELECT kind, status, error_code FROM backfill_requests
      WHERE chain_id = ${id} AND kind IN ('sender', 'receiver') AND subject = ${subject}`,
  );
  const ranges = (what: SearchRow['what']): BlockRange[] =>
    rows.flatMap((row) => (row.what === what ? [{ from: row.first_block, to: row.last_block }] : []));
  const newest = Math.max(from - 1, ...ranges('chain').map(({ from: followed, to }) => Math.max(followed - 1, to)));
  const whole = mergeRanges(ranges('whole'));
  const sent = mergeRanges([...whole, ...ranges('sent')]);
  const indexed = newest < from ? [] : [{ from, to: newest }];
  const stateOf = (requested: HistoryRow['kind']): SearchState | null => {
    const history = histories.find(({ kind }) => kind === requested);
    return history === undefined ? null : searchState(history);
  };
  return {
    whole,
    sent,
    missing: subtractRanges(indexed, sent),
    unsearched: subtractRanges(intersectRanges(sent, indexed), mergeRanges(ranges('received'))),
    indexed,
    newest: newest < from ? null : newest,
    state: stateOf('sender'),
    receivedState: stateOf('receiver'),
  };
}

function searchState({ status, error_code: code }: HistoryRow): SearchState {
  switch (status) {
    case 'pending':
      return 'waiting';
    case 'running':
      return 'reading';
    case 'refused':
      return code === NO_ARCHIVE ? 'no-archive' : 'refused';
    default:
      return status;
  }
}
