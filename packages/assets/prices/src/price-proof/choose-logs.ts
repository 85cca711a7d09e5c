import type { Chain } from '@chainstead/chains';
import type { Hash, Hex } from '@chainstead/core';
import { hexBytes, hexText, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { poolKey } from '@chainstead/markets/requests';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import { RECEIPT_BLOCKS_MAX } from '../token-price/serve/price-proof-document.ts';
import { readLiquidityChanges } from '../token-price/states/liquidity-in-range.ts';
import type { LogOfBlock } from './evidence-kind.ts';

type Candidate = PriceExplanation['candidates'][number];
type Anchor = PriceExplanation['anchors'][number];

export interface StoredFacts {
  readonly pools: readonly { readonly candidate: Candidate; readonly stored: LogsOfPool }[];
  readonly feeds: readonly { readonly anchor: Anchor; readonly log: LogOfPool | null }[];
}

export type ChosenLogs = ReadonlyMap<number, readonly LogOfBlock[]>;

/** Feeds' logs, and those in each pool's newest blocks. A busy pool leaves room for others. */
export function chooseLogs({ pools, feeds }: StoredFacts): ChosenLogs {
  const ofFeeds = feeds.flatMap(({ log }) => (log === null ? [] : [log]));
  const ofPools = pools.flatMap(({ stored }) => stored.logs);
  const ranked = pools.flatMap(({ stored }) => {
    const newestFirst = [...new Set(stored.logs.map(({ block }) => block))].toReversed();
    return newestFirst.map((block, rank) => ({ block, rank }));
  });
  const newest = ranked.toSorted((a, b) => a.rank - b.rank || b.block - a.block);
  const all = new Set([...ofFeeds, ...newest].map(({ block }) => block));
  const wanted = new Set([...all].slice(0, RECEIPT_BLOCKS_MAX));
  const logs = [...ofFeeds, ...ofPools].filter(({ block }) => wanted.has(block));
  const chosen = new Map<number, Map<string, LogOfBlock>>();
  for (const { block, ...log } of logs)
    chosen.set(block, (chosen.get(block) ?? new Map<string, LogOfBlock>()).set(keyOf(log), log));
  return new Map(chosen.entries().map(([block, distinct]) => [block, [...distinct.values()]]));
}

export function keyOf({ transactionIndex, logIndex }: LogOfBlock): string {
  return `${transactionIndex} ${logIndex}`;
}

type LogOfPool = LogOfBlock & { readonly block: number };

interface LogsOfPool {
  readonly logs: readonly LogOfPool[];
  /** By the block from which on they hold. */
  readonly ticks: readonly { readonly block: number; readonly tick: number | null }[];
}

interface PoolSpan {
  readonly pool: Hex;
  readonly first: number;
  readonly isConcentrated: boolean;
}

export async function readLogsOfPools(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolSpan[],
  last: number,
): Promise<readonly LogsOfPool[]> {
  if (pools.length === 0) return [];
  const concentrated = pools.filter((pool) => pool.isConcentrated);
  const spans = concentrated.map(({ pool, first }) => ({ pool, first, last }));
  const [states, changes] = await Promise.all([
    readStates(database, chain, pools, last),
    readLiquidityChanges(database, chain, spans),
  ]);
  const byPool = Map.groupBy(states, ({ position }) => position);
  return pools.map((pool, position) => {
    const rows = byPool.get(position) ?? [];
    const ofLiquidity = changes[concentrated.indexOf(pool)] ?? [];
    const logs = [...rows, ...ofLiquidity].flatMap(({ block, transactionIndex, logIndex }) =>
      transactionIndex === null || logIndex === null ? [] : [{ block, transactionIndex, logIndex }],
    );
    return {
      logs: logs.sort(
        (a, b) => a.block - b.block || a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex,
      ),
      ticks: rows.map(({ block, tick }) => ({ block, tick })),
    };
  });
}

function readStates(database: ReadDatabase, chain: Chain, pools: readonly PoolSpan[], last: number) {
  const chainId = sql`${chain.id}::bigint`;
  const end = sql`${last}::bigint`;
  const ranges = pools.flatMap(({ pool, first }, position) => {
    const of = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
    const start = sql`${first}::bigint`;
    return [
      sql`SELECT ${rawSql(position)} AS position, block_number AS block, transaction_index,
       log_index, tick FROM pool_states WHERE ${of} AND block_number BETWEEN ${start} AND ${end}`,
      sql`SELECT ${rawSql(position)}, block_number, NULL, NULL, tick FROM pool_readings WHERE ${of} AND block_number = ${start}`,
    ];
  });
  return database.select<{
    readonly position: number;
    readonly block: number;
    readonly transactionIndex: number | null;
    readonly logIndex: number | null;
    readonly tick: number | null;
  }>(sql`${joinSql(ranges, ' UNION ALL ')} ORDER BY position, block`);
}

export async function readHashes(
  database: ReadDatabase,
  chain: Chain,
  blocks: readonly number[],
): Promise<ReadonlyMap<number, Hash>> {
  const rows = await database.select<{ block: number; hash: Hash }>(
    sql`SELECT block_number AS block, ${hexText('block_hash')} AS hash FROM blocks
     WHERE chain_id = ${chain.id}::bigint AND block_number = ANY (${blocks}::bigint[])`,
  );
  return new Map(rows.map(({ block, hash }) => [block, hash]));
}
