import type { Chain } from '@chainstead/chains';
import { type Address, type BlockRange, mergeRanges } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import { erc20Transfers } from '../transfers/dataset.ts';
import { WRAPPED_COIN_MOVES } from '../wrapped/coin-coverage.ts';
import { readSteps, type Step, WALK_MAX, type Walk } from './balance-walks.ts';
import type { Holding } from './holding.ts';
import { readStoredAnchors, type StoredAnchor } from './stored-anchors.ts';

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
