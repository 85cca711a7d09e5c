import type { Chain } from '@chainstead/chains';
import { type Address, type BlockRange, mergeRanges, subtractRanges } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import { type HistoryStatus, NO_ARCHIVE } from '@chainstead/sync';
import type { SearchState } from '../records/wallet-transactions-response.ts';
import { accountTransactions } from '../stored/datasets.ts';
import { watchedBlocks } from '../stored/watched-blocks.ts';

/** Which blocks a wallet's transactions are known of. */
export interface WalletSearch {
  /** Of which all its transactions are known. Ascending, disjoint. */
  readonly whole: readonly BlockRange[];
  /** Of which at least those that it sent are known. Ascending, disjoint. */
  readonly sent: readonly BlockRange[];
  /** Of which not even those are. Up to the newest indexed block. */
  readonly missing: readonly BlockRange[];
  /** The newest indexed block; null where there is none. */
  readonly newest: number | null;
  /** Null: nobody has asked for it. */
  readonly state: SearchState | null;
}

/** Whether every transaction is known that the wallet sent up to the newest indexed block. */
export function isAllSentKnown({ missing, newest }: WalletSearch): boolean {
  return newest !== null && missing.length === 0;
}

interface SearchRow {
  readonly what: 'whole' | 'sent' | 'chain';
  readonly first_block: number;
  readonly last_block: number;
}

interface HistoryRow {
  readonly status: HistoryStatus;
  readonly error_code: string | null;
}

/** @param from below which nothing is of interest. @default the chain's first block */
export async function readWalletSearch(
  source: Pick<Database, 'query'>,
  { id, firstBlock }: Pick<Chain, 'id' | 'firstBlock'>,
  wallet: Address,
  from: number = firstBlock,
): Promise<WalletSearch> {
  const key = [id, addressBytes(wallet), accountTransactions.name];
  const rows = await source.query<SearchRow>(
    `SELECT 'whole' AS what, first_block, last_block FROM sync_ranges WHERE chain_id = $1 AND dataset = $3
     UNION ALL
     SELECT CASE kind WHEN 'wallet' THEN 'whole' ELSE 'sent' END, first_block, last_block FROM subject_ranges
      WHERE chain_id = $1 AND kind IN ('wallet', 'sender') AND subject = $2 AND dataset = $3
     UNION ALL
     SELECT 'whole', first_block, last_block FROM (${watchedBlocks('$1', '$2')}) AS watched
     UNION ALL
     SELECT 'chain', first_followed, coalesce(checkpoint, first_followed - 1) FROM sync_chains WHERE chain_id = $1`,
    key,
  );
  const [history] = await source.query<HistoryRow>(
    `SELECT status, error_code FROM subject_histories WHERE chain_id = $1 AND kind = 'sender' AND subject = $2`,
    key.slice(0, 2),
  );
  const ranges = (what: SearchRow['what']): BlockRange[] =>
    rows.flatMap((row) => (row.what === what ? [{ from: row.first_block, to: row.last_block }] : []));
  const newest = Math.max(from - 1, ...ranges('chain').map(({ from: followed, to }) => Math.max(followed - 1, to)));
  const whole = mergeRanges(ranges('whole'));
  const sent = mergeRanges([...whole, ...ranges('sent')]);
  return {
    whole,
    sent,
    missing: subtractRanges(newest < from ? [] : [{ from, to: newest }], sent),
    newest: newest < from ? null : newest,
    state: history === undefined ? null : stateOf(history),
  };
}

function stateOf({ status, error_code: code }: HistoryRow): SearchState {
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
