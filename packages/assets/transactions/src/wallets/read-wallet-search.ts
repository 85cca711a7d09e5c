import type { Chain } from '@chainstead/chains';
import { type Address, type BlockRange, intersectRanges, mergeRanges, subtractRanges } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { type HistoryStatus, NO_ARCHIVE } from '@chainstead/sync/requests';
import type { OlderMarks, SearchState } from '../records/wallet-transactions-response.ts';
import { watchedBlocks } from '../stored/account-transactions-page.ts';
import { accountTransactions } from '../stored/datasets.ts';

export interface WalletSearch {
  /** All transactions are known. Ascending, disjoint. */
  readonly whole: readonly BlockRange[];
  /** At least sent transactions are known. Ascending, disjoint. */
  readonly sent: readonly BlockRange[];
  /** Without known sent transactions, up to the newest indexed block. */
  readonly missing: readonly BlockRange[];
  /** Sent ones are known, balances were not searched. Up to the newest indexed block. */
  readonly unsearched: readonly BlockRange[];
  readonly indexed: readonly BlockRange[];
  readonly newest: number | null;
  /** Search for sent transactions. Null: never requested. */
  readonly state: SearchState | null;
  /** Search for receipts. Null: never requested. */
  readonly receivedState: SearchState | null;
}

export function isAllSentKnown({ missing, newest }: WalletSearch): boolean {
  return newest !== null && missing.length === 0;
}

/** Blocks within reorg depth wait, so that several are searched together. */
export function areBalancesMissing(
  { unsearched, newest }: WalletSearch,
  { reorgDepthMax }: Pick<Chain, 'reorgDepthMax'>,
): boolean {
  return newest !== null && unsearched.some(({ from, to }) => to > 0 && from < newest - 2 * reorgDepthMax);
}

/** Blocks within reorg depth of an earlier check: then their receipts are searched too. */
export function areNewestSearched(
  { missing }: WalletSearch,
  { newest }: Pick<WalletSearch, 'newest'>,
  { reorgDepthMax }: Pick<Chain, 'reorgDepthMax'>,
): boolean {
  if (newest === null) return false;
  return intersectRanges(missing, [{ from: newest - reorgDepthMax + 1, to: newest }]).length === 0;
}

export function olderMarks(search: WalletSearch, chain: Pick<Chain, 'reorgDepthMax'>): OlderMarks {
  const { whole, indexed, newest, state, receivedState } = search;
  const complete = isAllSentKnown(search);
  const searched = complete && !areBalancesMissing(search, chain);
  // The newest blocks may be reorganized before they are searched.
  const recent = (newest ?? 0) - 2 * chain.reorgDepthMax;
  const exact = searched && subtractRanges(indexed, whole).every(({ from }) => from >= recent);
  return { sent: { complete, state }, received: { searched, exact, state: receivedState } };
}

/** `from`: the lowest relevant block. @default the chain's first block */
export async function readWalletSearch(
  source: Pick<Database, 'query'>,
  { id, firstBlock }: Pick<Chain, 'id' | 'firstBlock'>,
  wallet: Address,
  from: number = firstBlock,
): Promise<WalletSearch> {
  const subject = sql`${addressBytes(wallet)}::bytea`;
  const dataset = accountTransactions.name;
  type Part = 'whole' | 'sent' | 'received' | 'chain';
  const rows = await source.query<BlockRange & { readonly what: Part }>(
    sql`SELECT 'whole' AS what, first_block AS from, last_block AS to FROM sync_ranges WHERE chain_id = ${id} AND dataset = ${dataset}
     UNION ALL
     SELECT CASE kind WHEN 'wallet' THEN 'whole' WHEN 'sender' THEN 'sent' ELSE 'received' END, first_block, last_block FROM subject_ranges
      WHERE chain_id = ${id} AND kind IN ('wallet', 'sender', 'receiver') AND subject = ${subject} AND dataset = ${dataset}
     UNION ALL
     SELECT 'whole', first_block, last_block FROM (${watchedBlocks(id, subject)}) AS watched
     UNION ALL
     SELECT 'chain', first_followed, coalesce(checkpoint, first_followed - 1) FROM sync_chains WHERE chain_id = ${id}`,
  );
  const histories = await source.query<{
    kind: 'sender' | 'receiver';
    status: HistoryStatus;
    code: string | null;
  }>(
    sql`SELECT kind, status, error_code AS code FROM backfill_requests
      WHERE chain_id = ${id} AND kind IN ('sender', 'receiver') AND subject = ${subject}`,
  );
  const ranges = (part: Part): BlockRange[] => rows.filter(({ what }) => what === part);
  const newest = Math.max(
    from - 1,
    ...ranges('chain').map(({ from: followed, to }) => Math.max(followed - 1, to)),
  );
  const whole = mergeRanges(ranges('whole'));
  const sent = mergeRanges([...whole, ...ranges('sent')]);
  const indexed = newest < from ? [] : [{ from, to: newest }];
  const stateOf = (requested: 'sender' | 'receiver'): SearchState | null => {
    const { status, code } = histories.find(({ kind }) => kind === requested) ?? { status: null };
    if (status === 'refused' && code === NO_ARCHIVE) return 'no-archive';
    if (status === 'pending') return 'waiting';
    return status === 'running' ? 'reading' : status;
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
