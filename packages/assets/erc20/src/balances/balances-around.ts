import type { Chain } from '@chainstead/chains';
import { type Address, type BlockRange, mergeRanges } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  hexText,
  joinSql,
  type ReadDatabase,
  rawSql,
  type Sql,
  sql,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { MOVED_DELTA, MOVED_TABLES } from '../moved-tables.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20TransfersTable } from '../transfers/row-table.ts';
import { WRAPPED_COIN_MOVES } from '../wrapped/dataset.ts';
import type { Holding } from './balance-questions.ts';
import { readStoredAnchors, type StoredAnchor } from './balance-series.ts';

export interface HoldingAt extends Holding {
  readonly block: number;
  readonly transactionIndex: number;
}

/** Base units. */
export interface BalancesAround {
  readonly before: bigint;
  readonly after: bigint;
  /** Other than to itself. */
  readonly isMoved: boolean;
}

/**
 * In order. Null: unknown, more than {@link WALK_MAX} transfers away, or not determined by
 * transfers. Starts from zero at the first block, or from the stored read.
 */
export async function readBalancesAround(
  database: ReadDatabase,
  chain: Chain,
  transactions: readonly HoldingAt[],
  isSpread: boolean,
): Promise<readonly (BalancesAround | null)[]> {
  const byHolding = Map.groupBy(transactions, keyOf);
  const holdings = [...byHolding.values()].flatMap(([first]) => first ?? []);
  if (holdings.length === 0) return [];
  const [anchors, runOf] = await Promise.all([
    readStoredAnchors(database, chain, holdings),
    readRuns(database, chain, holdings),
  ]);
  const walks = anchors.flatMap((anchor) => walksOf(anchor, byHolding.get(keyOf(anchor)) ?? [], chain, runOf));
  const steps = await readSteps(database, chain, walks, isSpread);
  const walkedBy = Map.groupBy(
    walks.map((walk, index) => ({ walk, ...readTo(walk, steps.get(index) ?? []) })),
    ({ walk }) => keyOf(walk),
  );
  return transactions.map((at) => {
    const walked = walkedBy
      .get(keyOf(at))
      ?.find(({ walk: { order, after, to }, end }) =>
        order === 'ASC' ? at.block > after && at.block <= end : at.block >= end && at.block <= to,
      );
    return walked === undefined ? null : balancesAt(walked, at);
  });
}

interface Walked {
  readonly walk: Walk;
  readonly steps: readonly Step[];
  /** The last block in walk order whose transfers are all read. */
  readonly end: number;
}

function walksOf(
  { account, token, block, value, isLive, createdBlock }: StoredAnchor,
  transactions: readonly HoldingAt[],
  chain: Chain,
  runOf: (holding: Holding, block: number) => BlockRange | null,
): readonly Walk[] {
  if (isLive) return [];
  const holding = { account, token };
  const blocks = transactions.map((at) => at.block);
  const walks: Walk[] = [];
  const run = value === null ? null : (runOf(holding, block) ?? runOf(holding, block + 1));
  if (value !== null && run !== null) {
    const later = blocks.filter((at) => at > block && at <= run.to);
    if (later.length > 0)
      walks.push({ ...holding, order: 'ASC', known: value, after: block, to: Math.max(...later) });
    const earlier = blocks.filter((at) => at <= block && at >= run.from);
    if (earlier.length > 0)
      walks.push({ ...holding, order: 'DESC', known: value, after: Math.min(...earlier) - 1, to: block });
  }
  const first = Math.max(chain.firstBlock, createdBlock ?? 0);
  const whole = runOf(holding, first);
  const within = whole === null ? [] : blocks.filter((at) => at >= first && at <= whole.to);
  if (within.length > 0)
    walks.push({ ...holding, order: 'ASC', known: 0n, after: first - 1, to: Math.max(...within) });
  return walks;
}

function readTo(walk: Walk, read: readonly Step[]): Omit<Walked, 'walk'> {
  const last = read[WALK_MAX];
  if (last === undefined) return { steps: read, end: walk.order === 'ASC' ? walk.to : walk.after + 1 };
  // Some transfers of the last block may be missing.
  return {
    steps: read.filter(({ block }) => block !== last.block),
    end: last.block + (walk.order === 'ASC' ? -1 : 1),
  };
}

function balancesAt({ walk, steps }: Walked, at: HoldingAt): BalancesAround | null {
  const isBefore = ({ block, transactionIndex }: Step): boolean =>
    block < at.block || (block === at.block && transactionIndex < at.transactionIndex);
  const own = steps.filter(
    ({ block, transactionIndex }) => block === at.block && transactionIndex === at.transactionIndex,
  );
  const sum = (some: readonly Step[]): bigint => some.reduce((total, { delta }) => total + delta, 0n);
  const before =
    walk.known +
    (walk.order === 'ASC' ? sum(steps.filter(isBefore)) : -sum(steps.filter((step) => !isBefore(step))));
  const after = before + sum(own);
  return before < 0n || after < 0n ? null : { before, after, isMoved: own.some(({ delta }) => delta !== 0n) };
}

async function readRuns(
  database: ReadDatabase,
  { id, wrappedNative }: Chain,
  holdings: readonly Holding[],
): Promise<(holding: Holding, block: number) => BlockRange | null> {
  const accounts = [...new Set(holdings.map(({ account }) => account))].map(addressBytes);
  const datasets = [erc20Transfers.name, WRAPPED_COIN_MOVES];
  const rows = await database.select<BlockRange & { readonly account: Address | null; readonly dataset: string }>(
    sql`SELECT NULL AS account, dataset, first_block AS "from", last_block AS "to" FROM sync_ranges
  WHERE chain_id = ${id} AND dataset = ANY (${datasets}::text[])
UNION ALL SELECT ${hexText('subject')}, dataset, first_block, last_block FROM subject_ranges
  WHERE chain_id = ${id} AND kind = 'wallet' AND subject = ANY (${accounts}::bytea[]) AND dataset = ANY (${datasets}::text[])`,
  );
  const ownRows = Map.groupBy(rows, ({ account, dataset }) => `${account ?? ''} ${dataset}`);
  const merged = new Map<string, readonly BlockRange[]>();
  const rangesOf = (account: Address, dataset: string): readonly BlockRange[] => {
    const own = ownRows.get(`${account} ${dataset}`) ?? [];
    const key = `${own.length === 0 ? '' : account} ${dataset}`;
    const ranges = merged.get(key) ?? mergeRanges([...own, ...(ownRows.get(` ${dataset}`) ?? [])]);
    merged.set(key, ranges);
    return ranges;
  };
  const runIn = (account: Address, dataset: string, block: number): BlockRange | null =>
    rangesOf(account, dataset).find(({ from, to }) => from <= block && block <= to) ?? null;
  return ({ account, token }, block) => {
    const run = runIn(account, erc20Transfers.name, block);
    if (token !== wrappedNative || run === null) return run;
    const coinRun = runIn(account, WRAPPED_COIN_MOVES, block);
    return coinRun && { from: Math.max(run.from, coinRun.from), to: Math.min(run.to, coinRun.to) };
  };
}

function keyOf({ account, token }: Holding): string {
  return `${account} ${token}`;
}

/** Bounds the cost of an account with millions of transfers. */
export const WALK_MAX = 500;

export interface Walk extends Holding {
  readonly order: 'ASC' | 'DESC';
  /** At the end of the block `after` for `ASC`, `to` for `DESC`. */
  readonly known: bigint;
  /** Exclusive; `to` is inclusive. */
  readonly after: number;
  readonly to: number;
}

export interface Step {
  readonly block: number;
  readonly transactionIndex: number;
  readonly delta: bigint;
}

/** By the walk's index: at most {@link WALK_MAX} + 1 each. */
export async function readSteps(
  database: ReadDatabase,
  chain: Chain,
  walks: readonly Walk[],
  isSpread: boolean,
): Promise<ReadonlyMap<number, readonly Step[]>> {
  if (walks.length === 0) return new Map();
  const rows = await database.select<{ readonly index: number; readonly steps: string | null }>(
    stepsStatement(chain, walks, isSpread),
  );
  return new Map(rows.map(({ index, steps }) => [index, steps === null ? [] : steps.split(',').map(parsedStep)]));
}

export function stepsStatement(chain: Chain, walks: readonly Walk[], isSpread: boolean): Sql {
  const indexed = walks.map((walk, index) => ({ ...walk, index, isCoin: walk.token === chain.wrappedNative }));
  // Citus refuses a limit that depends on another relation.
  const parts = isSpread
    ? indexed.map(
        (walk) =>
          sql`SELECT ${walk.index}::int AS index, read.* FROM ${stepsInSql(chain, walk, boundWalk(walk))} AS read`,
      )
    : [...Map.groupBy(indexed, ({ order, isCoin }) => `${order} ${isCoin}`).values()].flatMap((group) =>
        group[0] === undefined
          ? []
          : sql`SELECT walk.index, read.* FROM unnest(${group.map(({ index }) => index)}::int[], ${group.map(({ account }) => addressKey(account))}::bigint[],
    ${group.map(({ account }) => addressBytes(account))}::bytea[], ${group.map(({ token }) => addressBytes(token))}::bytea[],
    ${group.map(({ after }) => after)}::bigint[], ${group.map(({ to }) => to)}::bigint[]) AS walk(index, account_key, account, token, after_block, to_block)
  CROSS JOIN LATERAL ${stepsInSql(chain, group[0], WALK_COLUMNS)} AS read`,
      );
  return joinSql(parts, ' UNION ALL ');
}

function parsedStep(text: string): Step {
  const [block, transactionIndex, delta = ''] = text.split(' ');
  return { block: Number(block), transactionIndex: Number(transactionIndex), delta: BigInt(delta) };
}

type WalkInSql = Readonly<Record<'accountKey' | 'account' | 'token' | 'after' | 'to', Sql>>;

const WALK_COLUMNS: WalkInSql = {
  accountKey: rawSql('walk.account_key'),
  account: rawSql('walk.account'),
  token: rawSql('walk.token'),
  after: rawSql('walk.after_block'),
  to: rawSql('walk.to_block'),
};

function boundWalk({ account, token, after, to }: Walk): WalkInSql {
  return {
    accountKey: sql`${addressKey(account)}::bigint`,
    account: sql`${addressBytes(account)}::bytea`,
    token: sql`${addressBytes(token)}::bytea`,
    after: sql`${after}::bigint`,
    to: sql`${to}::bigint`,
  };
}

/** One range of the index by token. The expected condition keeps the planner from sorting. */
function stepsInSql(
  chain: Chain,
  { order, isCoin }: { readonly order: Walk['order']; readonly isCoin: boolean },
  { accountKey, account, token, after, to }: WalkInSql,
): Sql {
  const direction = rawSql(order);
  const ranges = (isCoin ? MOVED_TABLES : [erc20TransfersTable]).map(
    ({ name }) => sql`SELECT block_number, transaction_index, direction, value FROM ${rawSql(name)}
      WHERE account_key = ${accountKey} AND chain_id = ${chain.id}::bigint AND token_key(token) = token_key(${token})
        AND block_number > ${after} AND block_number <= ${to} AND ${expectedTrue(sql`account = ${account} AND token = ${token}`)}`,
  );
  return sql`(SELECT string_agg(block_number || ' ' || transaction_index || ' ' || delta, ',' ORDER BY block_number ${direction}) AS steps
    FROM (SELECT block_number, transaction_index, ${MOVED_DELTA} AS delta FROM (${joinSql(ranges, ' UNION ALL ')}) AS moved
      ORDER BY block_number ${direction} LIMIT ${rawSql(WALK_MAX + 1)}) AS nearest)`;
}
