import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError, inParts } from '@chainstead/core';
import { addressBytes, type Database, hexText, isOutage, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import type { StateReader, StateReadingContext } from '@chainstead/node-reads';
import { committedBlock, StateUnavailableError } from '@chainstead/node-reads/requests';
import { isSubjectBuilt } from '@chainstead/pages';
import { BY_TOKEN } from '../anchored-sums/axes.ts';
import { isWhole } from '../anchored-sums/resolved-balances.ts';
import { saveReadings } from '../anchored-sums/save-readings.ts';
import { readAndSave } from '../calls/fetch-balances.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { ACQUISITIONS, classInSql, erc20TokenHolders, HOLDER_CLASSES } from '../transfers/token-holders.ts';
import { coverageOfToken } from '../wrapped/dataset.ts';
import {
  CHANGE_SPANS,
  HOLDERS_COUNTED,
  type HolderCounts,
  OWNERS_NOW,
  type OwnersQuestion,
  TOPS,
} from './holder-questions.ts';

const LARGEST = Math.max(...TOPS);
/** Accounts that turn out to hold nothing are replaced by others. */
const ROUNDS_MAX = 4;

export const holdersCounted: StateReader<{ readonly token: Address }, HolderCounts> = {
  kind: HOLDERS_COUNTED,
  async read(context, { token }, signal) {
    const { chain, database } = context;
    const isRead = await readLargest(context, token, signal);
    const standing = await readStanding(context, token);
    const counts = await countHolders(context, token, standing);
    // A recount that started meanwhile has left some out.
    const isCounted = isSubjectBuilt(chain.id, sql`${addressBytes(token)}`, erc20TokenHolders);
    const [row] = await database.query<{ isCounted: boolean }>(sql`SELECT ${isCounted} AS "isCounted"`);
    // Invariant: BALANCE-HOLDERS
    if (row?.isCounted !== true)
      throw new StateUnavailableError(`Transfers of ${token} are being recounted: try again`);
    if (standing.isWhole && !standing.isExact) await restartHolders(database, chain, token);
    // Invariant: BALANCE-HOLDERS
    return { ...counts, isSound: isRead && standing.adds && standing.isExact };
  },
};

async function readLargest(context: StateReadingContext, token: Address, signal: AbortSignal): Promise<boolean> {
  const { chain, logger } = context;
  try {
    let before = 0;
    for (let round = 0; ; round++) {
      const unread = await listUnread(context, token);
      if (unread.length === 0) return true;
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

/** Never read or, unless transfers add up, moved since the read. */
async function listUnread({ chain, database }: StateReadingContext, token: Address): Promise<readonly Address[]> {
  const ofToken = sql`token = ${addressBytes(token)} AND chain_id = ${chain.id}`;
  const rows = await database.query<{ account: Address }>(
    sql`WITH known AS (SELECT coalesce((SELECT class = 'sum' FROM erc20_token_classes WHERE ${ofToken}), false) AS adds)
     SELECT ${hexText('account')} AS account FROM (
       SELECT account, anchor_block, since FROM erc20_holders WHERE ${ofToken} AND balance > 0
       ORDER BY balance DESC, account DESC LIMIT ${rawSql(LARGEST)}) AS largest
     WHERE anchor_block IS NULL OR since <> 0 AND NOT (SELECT adds FROM known)
     UNION ALL SELECT ${hexText('account')} FROM (
       SELECT account FROM erc20_holders WHERE ${ofToken} AND balance < 0 ORDER BY balance LIMIT ${rawSql(LARGEST)}) AS givers`,
  );
  return rows.map(({ account }) => account);
}

export interface HolderStanding {
  readonly isWhole: boolean;
  readonly adds: boolean;
  /** Most reads differ from transfers: only accounts read since their last movement count. */
  readonly lies: boolean;
  readonly isExact: boolean;
  readonly begunAt: Date | null;
  readonly newestAt: Date | null;
  readonly supply: string;
}

export async function readStanding(
  context: { readonly chain: Chain; readonly database: Database },
  token: Address,
): Promise<HolderStanding> {
  const { chain, database } = context;
  const bytes = sql`${addressBytes(token)}::bytea`;
  const of = { kind: 'contract', subject: bytes, chainId: chain.id, dataset: erc20Transfers.name } as const;
  const isAll = isWhole(await firstBlockOf(context, token));
  // Then transfers don't determine balances of the wrapped native token.
  const reports =
    token === chain.wrappedNative ? sql`coalesce(covered.is_counted AND ${isAll}, false)` : sql`true`;
  const [row] = await database.query<HolderStanding>(
    sql`WITH ${coverageOfToken(chain, token, of)}, newest AS MATERIALIZED (
  SELECT block_timestamp FROM blocks WHERE chain_id = ${chain.id} AND block_number <= (SELECT indexed_to FROM covered) ORDER BY block_number DESC LIMIT 1
)
SELECT coalesce(${isAll}, false) AS "isWhole", coalesce(known.is_exact, true) AS "isExact", known.begun_at,
  coalesce(class.class, 'sum') = 'sum' AND coalesce(known.contradictions, 0) = 0 AND ${reports} AS adds,
  coalesce(class.class = 'none', false) OR coalesce(known.contradictions * 2 > known.readings, false) OR NOT ${reports} AS lies,
  (SELECT block_timestamp FROM newest) AS "newestAt",
  coalesce(facts.total_supply, known.supply, 0)::text AS supply
FROM covered
LEFT JOIN erc20_holder_counts AS known ON known.token = ${bytes} AND known.chain_id = ${chain.id}
LEFT JOIN erc20_token_classes AS class ON class.token = ${bytes} AND class.chain_id = ${chain.id}
LEFT JOIN tokens AS facts ON facts.address = ${bytes} AND facts.chain_id = ${chain.id}`,
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
  const ofToken = sql`token = ${addressBytes(token)} AND chain_id = ${chain.id}`;
  const isRead = lies ? sql` AND anchor_block IS NOT NULL AND since = 0` : rawSql('');
  const held = sql`erc20_holders WHERE ${ofToken} AND balance > 0${isRead}`;
  const rows = await database.query<{ class: number; acquired: number; holders: number }>(
    sql`SELECT class, acquired, count(*) AS holders
     FROM (SELECT ${classInSql(sql`balance`, sql`${supply}::numeric`)} AS class, coalesce(acquired, 0) AS acquired FROM ${held}) AS holder
     GROUP BY class, acquired`,
  );
  const sum = (isCounted: (row: { class: number; acquired: number }) => boolean): number =>
    rows.filter(isCounted).reduce((total, { holders }) => total + holders, 0);
  const sums = TOPS.map((count) =>
    rawSql(`coalesce(sum(balance) FILTER (WHERE place <= ${count}), 0)::text AS top${count}`),
  );
  const [tops] = await database.query<Record<string, string>>(
    sql`SELECT ${joinSql(sums)}
     FROM (SELECT balance, row_number() OVER (ORDER BY balance DESC) AS place
       FROM (SELECT balance FROM ${held} ORDER BY balance DESC, account DESC LIMIT ${rawSql(LARGEST)}) AS largest) AS ranked`,
  );
  return {
    holders: sum(() => true),
    classes: HOLDER_CLASSES.map((_, index) => sum((row) => row.class === index)),
    acquired: ACQUISITIONS.map((_, index) => sum((row) => row.acquired === index)),
    tops: TOPS.map((count) => tops?.[`top${count}`] ?? '0'),
    changes: await countChanges(database, ofToken, standing),
    supply,
  };
}

async function countChanges(
  database: Database,
  ofToken: Sql,
  { lies, newestAt, isWhole: isAll, begunAt }: HolderStanding,
): Promise<readonly number[]> {
  const spans = Object.values(CHANGE_SPANS);
  if (lies || newestAt === null) return spans.map(() => 0);
  const newest = sql`${newestAt}::timestamptz`;
  const since = sql`${isAll ? null : begunAt}::timestamptz`;
  const within = (seconds: number): Sql => sql`minute > ${newest} - interval '${rawSql(seconds)} seconds'`;
  const sums = spans.map(
    (seconds) =>
      sql`coalesce(sum(came - gone) FILTER (WHERE ${within(seconds)}), 0)::int AS in${rawSql(seconds)}`,
  );
  const [row] = await database.query<Record<string, number>>(
    sql`SELECT ${joinSql(sums)}
     FROM erc20_holder_minutes WHERE ${ofToken} AND ${within(Math.max(...spans))} AND (${since} IS NULL OR minute >= ${since})`,
  );
  return spans.map((seconds) => row?.[`in${seconds}`] ?? 0);
}

/** Blocks were not indexed in order, so the minutes are wrong: a recount at the next request. */
export async function restartHolders(database: Database, chain: Chain, token: Address): Promise<void> {
  await database.query(
    sql`UPDATE subject_projections SET built_to = -1, is_stale = true, rows = 0
      WHERE chain_id = ${chain.id} AND state = ${erc20TokenHolders.name} AND subject = ${addressBytes(token)} AND built_to IS NULL AND NOT is_stale`,
  );
}

const TOGETHER = 100;

export const ownersNow: StateReader<OwnersQuestion, { readonly read: number }> = {
  kind: OWNERS_NOW,
  async read(context, { token, accounts }, signal) {
    await readOwners(context, token, accounts, signal);
    return { read: accounts.length };
  },
};

export async function readOwners(
  context: StateReadingContext,
  token: Address,
  accounts: readonly Address[],
  signal: AbortSignal,
): Promise<void> {
  const firstBlock = await firstBlockOf(context, token);
  await Promise.all(
    inParts(accounts, TOGETHER).map((some) => readSome(context, { token, firstBlock, accounts: some }, signal)),
  );
}

async function readSome(
  context: StateReadingContext,
  { token, firstBlock, accounts }: OwnersQuestion & { readonly firstBlock: number },
  signal: AbortSignal,
): Promise<void> {
  const { chain, database } = context;
  const block = await committedBlock(database, chain);
  if (block === null) return;
  const holdings = accounts.map((holder) => ({ token, holder }));
  await readAndSave(
    context,
    { block, holdings, isPatient: false },
    ({ holder }) => holder,
    (readings) => saveReadings(context, BY_TOKEN, { subject: token, block, firstBlock, ...readings }),
    signal,
  );
}

async function firstBlockOf(
  { chain, database }: Pick<StateReadingContext, 'chain' | 'database'>,
  token: Address,
): Promise<number> {
  const [row] = await database.query<{ createdBlock: number | null }>(
    sql`SELECT created_block FROM tokens WHERE address = ${addressBytes(token)} AND chain_id = ${chain.id}`,
  );
  return row?.createdBlock ?? chain.firstBlock;
}
