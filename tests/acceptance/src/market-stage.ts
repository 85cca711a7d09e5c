/** The running program over random actions of a market script, and what its tables must have. */
import type { Hex } from '@chainstead/core';
import { type Database, rawSql, type Sql, sql } from '@chainstead/db';
import { type Closable, createScratchDatabase, type Program } from '@chainstead/testkit';
import { expect } from 'vitest';
import { openDevnetProgramStage } from './devnet-program.ts';
import { waitUntil } from './indexed-chain.ts';
import { expectHoldings } from './market-holdings.ts';
import { type MarketLogs, readSenders } from './market-logs.ts';
import { createMarketDevnetScript, type MarketDevnetScript } from './market-script.ts';
import { expectStates } from './market-states.ts';

const KEY = 'acceptance-key-0123456789';
/** Actions before the first indexed block. */
const EARLIER = 15;
/** A fresh index may have thousands of blocks. */
const FRESH_MS = 600_000;
/** All states stay in memory: after a reorg to a state on disk, anvil 1.7.1 lacks the code of contracts. */
const ANVIL_ARGUMENTS = ['--prune-history', '20000'];
const DATASETS = ['swaps', 'pool-states', 'pool-creations'];

export interface MarketStage extends Closable {
  readonly script: MarketDevnetScript;
  /** Starts the program. */
  start(): Program;
  reorg(depth: number): Promise<void>;
  /** Until all blocks from the first one to the head are indexed, and every pool is examined. */
  untilIndexed(): Promise<void>;
  /**
   * Compares swaps, trades and pools with the node, and the state of each pool after each block in which it emitted an event, and at the head.
   * @param from earlier blocks are left out @default the first indexed block
   */
  expectTruth(from?: number): Promise<CheckedMarkets>;
  /** Compares all rows with those of a fresh index. */
  expectFreshIndex(): Promise<void>;
}

export interface CheckedMarkets {
  readonly swaps: number;
  readonly states: number;
  /** The last compared block. */
  readonly head: number;
}

/** Makes some pools before the first indexed block. Starts no program yet. */
export async function openMarketStage(chainId: number, seed: string): Promise<MarketStage> {
  const stage = await openDevnetProgramStage(chainId, ANVIL_ARGUMENTS);
  const { devnet, scratch } = stage;
  const script = await createMarketDevnetScript(devnet, seed);
  await script.act(EARLIER);
  const firstBlock = Number((await devnet.client.getBlock()).number) + 1;
  const settings = {
    START_BLOCK_DEVNET: String(firstBlock),
    EXCHANGES_DEVNET: Object.entries(script.exchanges.factories)
      .map(([family, { address }]) => `${family}:${address}`)
      .join(),
  };

  async function expectTruth(from = firstBlock): Promise<CheckedMarkets> {
    const logs = await script.readLogs();
    const head = Number((await devnet.client.getBlock()).number);
    const seen = { ...logs, swaps: logs.swaps.filter(({ block }) => block >= firstBlock) };
    const senders = await readSenders(
      devnet,
      seen.swaps.filter(({ block }) => block >= from).map(({ hash }) => hash),
    );
    await expectSwaps(scratch.database, script, seen, { from, senders });
    await expectPools(scratch.database, script, seen, firstBlock);
    await expectHoldings(scratch.database, devnet, script, seen, firstBlock);
    const touched = new Map(
      [
        ...logs.touched.filter(({ block }) => block >= from),
        ...[...logs.usable].map((pool) => ({ pool, block: head })),
      ].map((one) => [`${one.pool} ${one.block}`, one]),
    );
    const states = await expectStates(scratch.database, devnet, script, [...touched.values()]);
    return { swaps: seen.swaps.length, states, head };
  }

  const untilIndexedIn = (database: Database, timeoutMs?: number): Promise<void> =>
    waitUntil(async () => {
      const { hash, number } = await devnet.client.getBlock();
      const rows = await database.query<IndexedRow>(
        sql`SELECT checkpoint, '0x' || encode(block_hash, 'hex') AS hash,
           (SELECT count(*)::int FROM pools WHERE coalesce(lease_until, due_at) IS NOT NULL) AS due,
           (SELECT max(error_message) FROM pools) AS failure,
           (SELECT coalesce(sum(last_block - first_block + 1), 0)::int FROM sync_ranges WHERE dataset = ANY (${DATASETS})) AS covered
         FROM sync_chains JOIN blocks ON blocks.chain_id = sync_chains.chain_id AND block_number = checkpoint`,
      );
      const [row] = rows;
      const wanted = DATASETS.length * (Number(number) - firstBlock + 1);
      const isDone = row?.hash === hash && row.due === 0 && row.covered === wanted;
      return isDone ? null : `${JSON.stringify(row)} at block ${number}`;
    }, timeoutMs);

  return {
    script,
    start: () => stage.start(KEY, settings),
    reorg: (depth) => devnet.reorg(depth),
    untilIndexed: () => untilIndexedIn(scratch.database),
    expectTruth,
    async expectFreshIndex() {
      const expected = await readAll(scratch.database);
      const fresh = await createScratchDatabase();
      try {
        const program = stage.start(KEY, { ...settings, DATABASE_URL: fresh.url });
        await untilIndexedIn(fresh.database, FRESH_MS);
        expect(await readAll(fresh.database)).toEqual(expected);
        await program.stop();
      } finally {
        await fresh.drop();
      }
    },
    close: () => stage.close(),
    [Symbol.asyncDispose]: () => stage.close(),
  };
}

interface IndexedRow {
  readonly checkpoint: number;
  readonly hash: Hex;
  readonly due: number;
  readonly failure: string | null;
  readonly covered: number;
}

interface SwapsToCheck {
  readonly from: number;
  readonly senders: Awaited<ReturnType<typeof readSenders>>;
}

async function expectSwaps(
  database: Database,
  { fakePair }: MarketDevnetScript,
  logs: MarketLogs,
  { from, senders }: SwapsToCheck,
): Promise<void> {
  const swaps = logs.swaps.filter(({ block }) => block >= from);
  const rows = await database.query(
    sql`SELECT block_number AS block, log_index AS log, '0x' || encode(transaction_hash, 'hex') AS hash, '0x' || encode(pool, 'hex') AS pool, kind,
       amount0::text, amount1::text, tick_lower AS lower, tick_upper AS upper, liquidity_delta::text AS liquidity,
       '0x' || encode(wallet, 'hex') AS wallet FROM swaps WHERE block_number >= ${from} ORDER BY block_number, log_index`,
  );
  expect(rows).toEqual(swaps.map((swap) => ({ ...swap, wallet: senders.get(swap.hash) })));
  const trades = await database.query(
    sql`SELECT block_number AS block, log_index AS log FROM trades WHERE block_number >= ${from} ORDER BY block_number, log_index`,
  );
  const expected = swaps.filter(({ kind, pool }) => kind === 0 && pool !== fakePair);
  expect(trades).toEqual(expected.map(({ block, log }) => ({ block, log })));
}

/** Pools that a row names: one that a reorg took away may be left. */
const IS_NAMED = sql`(EXISTS (SELECT 1 FROM swaps WHERE swaps.pool_key = pools.pool_key AND swaps.pool = pools.pool)
  OR EXISTS (SELECT 1 FROM pool_creations AS made WHERE made.pool_key = pools.pool_key AND made.pool = pools.pool))`;

async function expectPools(
  database: Database,
  script: MarketDevnetScript,
  { swaps, created }: MarketLogs,
  firstBlock: number,
): Promise<void> {
  const rows = await database.query(
    sql`SELECT '0x' || encode(pool, 'hex') AS pool, status, exchange, '0x' || encode(factory, 'hex') AS factory, '0x' || encode(token0, 'hex') AS token0,
       '0x' || encode(token1, 'hex') AS token1, fee, tick_spacing, is_counted FROM pools WHERE ${IS_NAMED} ORDER BY pools.pool`,
  );
  const named = new Set(swaps.map(({ pool }) => pool));
  for (const [pool, block] of created) if (block >= firstBlock) named.add(pool);
  const none = { exchange: null, factory: null, token0: null, token1: null, fee: null, tickSpacing: null };
  const expected = [...named].toSorted().map((pool) => {
    const known = script.pools.get(pool);
    if (known === undefined) return { pool, status: 'disproved', ...none, isCounted: false };
    const { version, tokens, fee, tickSpacing } = known;
    const [token0, token1] = tokens;
    const isFixed = version !== 'v2' && version !== 'algebra-integral';
    const facts = isFixed ? { fee, tickSpacing } : { fee: null, tickSpacing: null };
    const factory = script.exchanges.factories[version]?.address;
    return { pool, status: 'proven', exchange: version, factory, token0, token1, ...facts, isCounted: true };
  });
  expect(rows).toEqual(expected);
  if (named.has(script.fakePair)) expect(rows).toContainEqual(expect.objectContaining({ status: 'disproved' }));
}

/** All rows as text. Not the proofs of pools: they depend on the time at which a pool is examined. */
async function readAll(database: Database): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables: Record<string, string[]> = {};
  const read = async (name: string, statement: Sql): Promise<void> => {
    const rows = await database.query<{ row: string }>(sql`${statement} ORDER BY 1`);
    tables[name] = rows.map(({ row }) => row);
  };
  for (const name of ['swaps', 'pool_states', 'pool_creations', 'trades'])
    await read(name, sql`SELECT to_jsonb(stored)::text AS row FROM ${rawSql(name)} AS stored`);
  await read(
    'pools',
    sql`SELECT (to_jsonb(pools) - '{proof,proof_block,due_at,lease_until,holder,attempts,error_code,error_message}'::text[])::text AS row
     FROM pools WHERE ${IS_NAMED}`,
  );
  return tables;
}
