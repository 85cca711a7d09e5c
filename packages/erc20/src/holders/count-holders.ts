/**
 * Counts a token's holders after reading the largest: sums of hostile transfers are not balances. For the worker role.
 */

import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError } from '@chainstead/core';
import { isSubjectBuiltOld } from '@chainstead/data-api';
import { addressBytes, type Database, hexText, isOutage, rawSql, sql } from '@chainstead/db';
import { type StateReader, type StateReadingContext, StateUnavailableError } from '@chainstead/node-reads';
import { isWhole } from '../balances/resolved-balances.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { ACQUISITIONS, classInSql, HOLDER_CLASSES } from '../transfers/holder-classes.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { coverageOfToken } from '../wrapped/coin-coverage.ts';
import { CHANGE_SPANS, HOLDERS_COUNTED, type HolderCounts, TOPS } from './holder-questions.ts';
import { firstBlockOf, readOwners } from './read-owners.ts';
import { restartHolders } from './restart-holders.ts';

/** Number of largest holders to read. */
const LARGEST = Math.max(...TOPS);
/** Accounts that turn out to hold nothing are replaced by others: the maximum number of rounds. */
const ROUNDS_MAX = 4;

export const holdersCounted: StateReader<{ readonly token: Address }, HolderCounts> = {
  kind: HOLDERS_COUNTED,
  async read(context, { token }, signal) {
    const isRead = await readLargest(context, token, signal);
    const standing = await readStanding(context, token);
    const counts = await countHolders(context, token, standing);
    // A recount that started meanwhile has left some out.
    if (!(await isCounted(context, token)))
      throw new StateUnavailableError(`Transfers of ${token} are being recounted: try again`);
    if (standing.isWhole && !standing.isExact) await restartHolders(context.database, context.chain, token);
    return { ...counts, isSound: isRead && standing.adds && standing.isExact };
  },
};

async function isCounted({ chain, database }: StateReadingContext, token: Address): Promise<boolean> {
  const [row] = await database.query<{ is_kept: boolean }>(
    `SELECT ${isSubjectBuiltOld('$2::bigint', '$1::bytea', erc20TokenHolders)} AS is_kept`,
    [addressBytes(token), chain.id],
  );
  return row?.is_kept ?? false;
}

/** @returns whether none is left unread */
async function readLargest(context: StateReadingContext, token: Address, signal: AbortSignal): Promise<boolean> {
  const { chain, logger } = context;
  try {
    let before = 0;
    for (let round = 0; ; round++) {
      const unread = await listUnread(context, token);
      if (unread.length === 0) return true;
      // No progress since the last round: the rest can't be read.
      if (round === ROUNDS_MAX || unread.length === before) return false;
      before = unread.length;
      await readOwners(context, token, unread, signal);
    }
  } catch (error) {
    if (signal.aborted || isOutage(error) || !(error instanceof ChainsteadError)) throw error;
    logger.warn({ chain: chain.key, token, err: error }, 'The largest holders of a token could not be read');
    return false;
  }
}

/**
 * Accounts that must be read from the contract before they count: the largest ones never read, and, unless transfers
 * determine balances, those that moved since their last read.
 */
async function listUnread({ chain, database }: StateReadingContext, token: Address): Promise<readonly Address[]> {
  const rows = await database.query<{ account: Address }>(
    sql`WITH known AS (SELECT coalesce((SELECT class = 'sum' FROM erc20_token_classes WHERE token = ${addressBytes(token)} AND chain_id = ${chain.id}), false) AS adds)
     SELECT ${hexText('account')} AS account FROM (
       SELECT account, anchor_block, since FROM erc20_holders WHERE token = ${addressBytes(token)} AND chain_id = ${chain.id} AND balance > 0
       ORDER BY balance DESC, account DESC LIMIT ${rawSql(LARGEST)}) AS largest
     WHERE anchor_block IS NULL OR since <> 0 AND NOT (SELECT adds FROM known)
     UNION ALL SELECT ${hexText('account')} FROM (
       SELECT account FROM erc20_holders WHERE token = ${addressBytes(token)} AND chain_id = ${chain.id} AND balance < 0 ORDER BY balance LIMIT ${rawSql(LARGEST)}) AS givers`,
  );
  return rows.map(({ account }) => account);
}

/** The state of a token whose holders are counted. */
export interface HolderStanding {
  /** Whether every block with its transfers is indexed. */
  readonly isWhole: boolean;
  /** Whether its transfers determine the holders, as far as read. */
  readonly adds: boolean;
  /**
   * Whether most accounts read differ from their transfers: then only accounts read since their last movement count.
   */
  readonly lies: boolean;
  /** Whether the minutes are complete. */
  readonly isExact: boolean;
  /** Time of the first request; null: never. */
  readonly begunAt: Date | null;
  /** Time of the newest indexed block; null for none. */
  readonly newestAt: Date | null;
  readonly supply: string;
}

export async function readStanding(
  context: { readonly chain: Chain; readonly database: Database },
  token: Address,
): Promise<HolderStanding> {
  const { chain, database } = context;
  const of = { kind: 'contract', subject: '$1', chainId: '$2', dataset: erc20Transfers.name } as const;
  const isCoin = token === chain.wrappedNative;
  // Without all deposits and withdrawals, transfers don't determine balances of the wrapped native token.
  const reports = isCoin ? `coalesce(covered.is_counted AND ${isWhole('$3')}, false)` : 'true';
  const [row] = await database.query<HolderStanding>(
    `WITH ${coverageOfToken(chain, token, of)}, newest AS MATERIALIZED (
  SELECT block_timestamp FROM blocks WHERE chain_id = $2 AND block_number <= (SELECT indexed_to FROM covered) ORDER BY block_number DESC LIMIT 1
)
SELECT coalesce(${isWhole('$3')}, false) AS "isWhole", coalesce(known.is_exact, true) AS "isExact", known.begun_at AS "begunAt",
  coalesce(class.class, 'sum') = 'sum' AND coalesce(known.contradictions, 0) = 0 AND ${reports} AS adds,
  coalesce(class.class = 'none', false) OR coalesce(known.contradictions * 2 > known.readings, false) OR NOT ${reports} AS lies,
  (SELECT block_timestamp FROM newest) AS "newestAt",
  coalesce(facts.total_supply, known.supply, 0)::text AS supply
FROM covered
LEFT JOIN erc20_holder_counts AS known ON known.token = $1 AND known.chain_id = $2
LEFT JOIN erc20_token_classes AS class ON class.token = $1 AND class.chain_id = $2
LEFT JOIN tokens AS facts ON facts.address = $1 AND facts.chain_id = $2`,
    [addressBytes(token), chain.id, await firstBlockOf(context, token)],
  );
  if (row === undefined) throw new Error('A statement about a token gave no row');
  return row;
}

async function countHolders(
  { chain, database }: StateReadingContext,
  token: Address,
  standing: HolderStanding,
): Promise<Omit<HolderCounts, 'isSound'>> {
  const { supply, lies } = standing;
  // An account that moved after its read, and could not be read again, has only the value from its transfers.
  const isRead = ' AND anchor_block IS NOT NULL AND since = 0';
  const held = `erc20_holders WHERE token = $1 AND chain_id = $2 AND balance > 0${lies ? isRead : ''}`;
  const key = [addressBytes(token), chain.id];
  const rows = await database.query<{ class: number; acquired: number; holders: number }>(
    `SELECT class, acquired, count(*) AS holders
     FROM (SELECT ${classInSql('balance', '$3::numeric')} AS class, coalesce(acquired, 0) AS acquired FROM ${held}) AS holder
     GROUP BY class, acquired`,
    [...key, supply],
  );
  const sum = (those: (row: { class: number; acquired: number }) => boolean): number =>
    rows.filter(those).reduce((total, { holders }) => total + holders, 0);
  const [tops] = await database.query<Record<string, string>>(
    `SELECT ${TOPS.map((places) => `coalesce(sum(balance) FILTER (WHERE place <= ${places}), 0)::text AS top${places}`).join(', ')}
     FROM (SELECT balance, row_number() OVER (ORDER BY balance DESC) AS place
       FROM (SELECT balance FROM ${held} ORDER BY balance DESC, account DESC LIMIT ${LARGEST}) AS largest) AS ranked`,
    key,
  );
  return {
    holders: sum(() => true),
    classes: HOLDER_CLASSES.map((_, place) => sum((row) => row.class === place)),
    acquired: ACQUISITIONS.map((_, place) => sum((row) => row.acquired === place)),
    tops: TOPS.map((places) => tops?.[`top${places}`] ?? '0'),
    changes: await countChanges(database, key, standing),
    supply,
  };
}

/** Returns zeros if transfers don't determine balances. Without full coverage, counts from the first request only. */
async function countChanges(
  database: Database,
  key: readonly unknown[],
  { lies, newestAt, isWhole: isAll, begunAt }: HolderStanding,
): Promise<readonly number[]> {
  const spans = Object.values(CHANGE_SPANS);
  if (lies || newestAt === null) return spans.map(() => 0);
  const within = (seconds: number): string => `minute > $3::timestamptz - interval '${seconds} seconds'`;
  const [row] = await database.query<Record<string, number>>(
    `SELECT ${spans.map((seconds) => `coalesce(sum(came - gone) FILTER (WHERE ${within(seconds)}), 0)::int AS in${seconds}`).join(', ')}
     FROM erc20_holder_minutes WHERE token = $1 AND chain_id = $2 AND ${within(Math.max(...spans))}
       AND ($4::timestamptz IS NULL OR minute >= $4)`,
    [...key, newestAt, isAll ? null : begunAt],
  );
  return spans.map((seconds) => row?.[`in${seconds}`] ?? 0);
}
