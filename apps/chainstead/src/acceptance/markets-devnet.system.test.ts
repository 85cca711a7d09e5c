/** Swaps, pools and their states of the running program, over real contracts of Uniswap: all of it as the node has it. */
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createPoolPrincipal } from '@chainstead/markets';
import { createScratchDatabase, type ExchangePool } from '@chainstead/testkit';
import { encodeAbiParameters, keccak256, numberToHex, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';
import { waitUntil } from './indexed-chain.ts';
import { type MarketLogs, readMarketLogs, readSenders } from './market-logs.ts';
import { createMarketDevnetScript, type MarketDevnetScript } from './market-script.ts';

const KEY = 'acceptance-key-0123456789';
const CHAIN_ID = 1_337_042;
const REORG_DEPTH = 10;
let stage: DevnetProgramStage;
let script: MarketDevnetScript;
let settings: Readonly<Record<string, string>>;
let firstBlock: number;

beforeAll(async () => {
  stage = await openDevnetProgramStage(CHAIN_ID);
  script = await createMarketDevnetScript(stage.devnet, 'markets');
  await script.act(15);
  firstBlock = Number((await stage.devnet.client.getBlock()).number) + 1;
  const { v2, v3, v4 } = script.exchanges.factories;
  settings = {
    START_BLOCK_DEVNET: String(firstBlock),
    SWAPS_DEVNET: 'all',
    EXCHANGES_DEVNET: `v2:${v2.address},v3:${v3.address},v4:${v4.address}`,
  };
});
afterAll(() => stage?.close());

it('indexes swaps, proven pools and their states as the node has them', async () => {
  const { scratch } = stage;
  stage.start(KEY, settings);
  await script.act(50);
  await untilIndexed(scratch.database);
  await expectTruth(scratch.database);
});

it('takes back what a reorg takes away', async () => {
  const { devnet, scratch } = stage;
  await script.act(40);
  await devnet.reorg(REORG_DEPTH);
  await script.act(45);
  await untilIndexed(scratch.database);
  const { swaps } = await expectTruth(scratch.database);
  expect(swaps.length).toBeGreaterThan(100);
});

it('leaves the rows of a fresh index', async () => {
  const expected = await readAll(stage.scratch.database);
  const fresh = await createScratchDatabase();
  try {
    const program = stage.start(KEY, { ...settings, DATABASE_URL: fresh.url });
    // Its backfill goes down to the first block.
    const wanted = await countRows(stage.scratch.database);
    await waitUntil(async () => {
      const counted = await countRows(fresh.database);
      return counted === wanted ? null : `${counted} of ${wanted}\n${program.output()}`;
    });
    await untilIndexed(fresh.database);
    expect(await readAll(fresh.database)).toEqual(expected);
    await program.stop();
  } finally {
    await fresh.drop();
  }
});

/** Until the head is indexed, and every pool is examined. */
function untilIndexed(database: Database): Promise<void> {
  return waitUntil(async () => {
    const { hash, number } = await stage.devnet.client.getBlock();
    const rows = await database.query<{ checkpoint: number; hash: Hex; due: number; failure: string | null }>(
      `SELECT checkpoint, '0x' || encode(block_hash, 'hex') AS hash,
         (SELECT count(*)::int FROM pools WHERE coalesce(lease_until, due_at) IS NOT NULL) AS due,
         (SELECT max(error_message) FROM pools) AS failure
       FROM sync_chains JOIN blocks ON blocks.chain_id = sync_chains.chain_id AND block_number = checkpoint`,
    );
    const [row] = rows;
    return row?.hash === hash && row.due === 0 ? null : `${JSON.stringify(row)} at block ${number}`;
  });
}

async function expectTruth(database: Database): Promise<MarketLogs> {
  const logs = await readMarketLogs(stage.devnet);
  const seen = { ...logs, swaps: logs.swaps.filter(({ block }) => block >= firstBlock) };
  await expectSwaps(database, seen);
  await expectPools(database, seen);
  for (const pool of script.pools.values()) if (logs.usable.has(pool.pool)) await expectState(database, pool);
  await expectHoldings(database, logs);
  return seen;
}

/** Pools of v4 whose creation is indexed: their liquidity by tick is that of all events, and the manager holds the tokens of their positions. */
async function expectHoldings(database: Database, { swaps, created, usable }: MarketLogs): Promise<void> {
  const held = new Map<Address, bigint>();
  for (const { version, pool, tokens } of script.pools.values()) {
    if (version !== 'v4' || !usable.has(pool) || (created.get(pool) ?? 0) < firstBlock) continue;
    const sums = new Map<number, bigint>();
    for (const { pool: of, lower, upper, liquidity } of swaps) {
      if (of !== pool || lower === null || upper === null || liquidity === null) continue;
      sums.set(lower, (sums.get(lower) ?? 0n) + BigInt(liquidity));
      sums.set(upper, (sums.get(upper) ?? 0n) - BigInt(liquidity));
    }
    const ticks = await readTicks(database, pool);
    expect([pool, ticks]).toEqual([pool, [...sums].filter(([, net]) => net !== 0n).toSorted(([a], [b]) => a - b)]);
    const [state] = await database.query<{ root: string; tick: number }>(
      `SELECT sqrt_price_x96::text AS root, tick FROM pool_states WHERE pool = decode($1, 'hex') ORDER BY block_number DESC LIMIT 1`,
      [pool.slice(2)],
    );
    if (state === undefined) continue;
    const principal = createPoolPrincipal(ticks.map(([tick]) => tick));
    for (const [tick, net] of ticks) principal.change({ tick, net });
    const { amounts } = principal.at({ sqrtPriceX96: BigInt(state.root), tick: state.tick });
    for (const side of [0, 1] as const) held.set(tokens[side], (held.get(tokens[side]) ?? 0n) + amounts[side]);
  }
  for (const [token, amount] of held) {
    const args = [script.exchanges.factories.v4.address] as const;
    const balance = await stage.devnet.client.readContract({
      address: token,
      abi: READS,
      functionName: 'balanceOf',
      args,
    });
    expect([token, amount > 0n && amount <= balance]).toEqual([token, true]);
  }
}

/** Net liquidity of a pool by tick, without zeros. Each width of spans has all of it. */
async function readTicks(database: Database, pool: Hex): Promise<(readonly [number, bigint])[]> {
  const rows = await database.query<{ blocks: number; tick: number; net: string }>(
    `SELECT blocks, tick, sum(net)::text AS net FROM tick_liquidity WHERE pool = decode($1, 'hex') GROUP BY blocks, tick HAVING sum(net) <> 0 ORDER BY tick`,
    [pool.slice(2)],
  );
  const widths = Map.groupBy(rows, ({ blocks }) => blocks);
  const [one = [], ...others] = [...widths.values()].map((of) =>
    of.map(({ tick, net }) => [tick, BigInt(net)] as const),
  );
  for (const other of others) expect(other).toEqual(one);
  return one;
}

async function expectSwaps(database: Database, { swaps }: MarketLogs): Promise<void> {
  const senders = await readSenders(
    stage.devnet,
    swaps.map(({ hash }) => hash),
  );
  const rows = await database.query(
    `SELECT block_number AS block, log_index AS log, '0x' || encode(transaction_hash, 'hex') AS hash, '0x' || encode(pool, 'hex') AS pool, kind,
       amount0::text, amount1::text, tick_lower AS lower, tick_upper AS upper, liquidity_delta::text AS liquidity,
       '0x' || encode(wallet, 'hex') AS wallet FROM swaps ORDER BY block_number, log_index`,
  );
  expect(rows).toEqual(swaps.map((swap) => ({ ...swap, wallet: senders.get(swap.hash) })));
  const trades = await database.query(
    `SELECT block_number AS block, log_index AS log FROM trades ORDER BY block_number, log_index`,
  );
  const expected = swaps.filter(({ kind, pool }) => kind === 0 && pool !== script.fakePair);
  expect(trades).toEqual(expected.map(({ block, log }) => ({ block, log })));
}

/** Pools that a row names: one that a reorg took away may be left. */
const NAMED = `(EXISTS (SELECT 1 FROM swaps WHERE swaps.pool_key = pools.pool_key AND swaps.pool = pools.pool)
  OR EXISTS (SELECT 1 FROM pool_creations AS made WHERE made.pool_key = pools.pool_key AND made.pool = pools.pool))`;

async function expectPools(database: Database, { swaps, created }: MarketLogs): Promise<void> {
  const rows = await database.query(
    `SELECT '0x' || encode(pool, 'hex') AS pool, status, exchange, '0x' || encode(factory, 'hex') AS factory, '0x' || encode(token0, 'hex') AS token0,
       '0x' || encode(token1, 'hex') AS token1, fee, tick_spacing, is_counted FROM pools WHERE ${NAMED} ORDER BY pools.pool`,
  );
  const named = new Set(swaps.map(({ pool }) => pool));
  for (const [pool, block] of created) if (block >= firstBlock) named.add(pool);
  const none = { exchange: null, factory: null, token0: null, token1: null, fee: null, tick_spacing: null };
  const expected = [...named].toSorted().map((pool) => {
    const known = script.pools.get(pool);
    if (known === undefined) return { pool, status: 'disproved', ...none, is_counted: false };
    const { version, tokens, fee, tickSpacing } = known;
    const [token0, token1] = tokens;
    const facts = version === 'v2' ? { fee: null, tick_spacing: null } : { fee, tick_spacing: tickSpacing };
    const { address: factory } = script.exchanges.factories[version];
    return { pool, status: 'proven', exchange: version, factory, token0, token1, ...facts, is_counted: true };
  });
  expect(rows).toEqual(expected);
  if (named.has(script.fakePair)) expect(rows).toContainEqual(expect.objectContaining({ status: 'disproved' }));
}

/** The last state and, of concentrated pools, the liquidity that was added in range since. Null: the pool has not changed since the first block. */
async function expectState(database: Database, pool: ExchangePool): Promise<void> {
  const [state] = await database.query<Readonly<Record<string, string | number | null>>>(
    `SELECT reserve0::text, reserve1::text, sqrt_price_x96::text, tick, liquidity + (SELECT coalesce(sum(liquidity_delta), 0) FROM swaps
         WHERE swaps.pool = state.pool AND (swaps.block_number, swaps.transaction_index, swaps.log_index) >
             (state.block_number, state.transaction_index, state.log_index) AND tick_lower <= tick AND tick < tick_upper) AS liquidity
       FROM pool_states AS state WHERE pool = decode($1, 'hex') ORDER BY block_number DESC LIMIT 1`,
    [pool.pool.slice(2)],
  );
  if (state === undefined) return;
  const { tick, ...numbers } = state;
  expect([pool, { ...numbers, tick }]).toEqual([pool, await readNodeState(pool)]);
}

const READS = parseAbi([
  'function getReserves() view returns (uint112, uint112, uint32)',
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint8, bool)',
  'function liquidity() view returns (uint128)',
  'function extsload(bytes32 slot) view returns (bytes32)',
  'function balanceOf(address) view returns (uint256)',
]);
/** Slot of the mapping of pools in the storage of the PoolManager, and the place of liquidity in an entry (StateLibrary.sol). */
const POOLS_SLOT = 6n;
const LIQUIDITY_OFFSET = 3n;

async function readNodeState({ version, pool }: ExchangePool) {
  const { client } = stage.devnet;
  const at = (address: Address) => ({ address, abi: READS }) as const;
  if (version === 'v2') {
    const [reserve0, reserve1] = await client.readContract({ ...at(parseAddress(pool)), functionName: 'getReserves' });
    const none = { sqrt_price_x96: null, liquidity: null, tick: null };
    return { reserve0: String(reserve0), reserve1: String(reserve1), ...none };
  }
  const none = { reserve0: null, reserve1: null };
  if (version === 'v3') {
    const of = at(parseAddress(pool));
    const [price, tick] = await client.readContract({ ...of, functionName: 'slot0' });
    const liquidity = await client.readContract({ ...of, functionName: 'liquidity' });
    return { ...none, sqrt_price_x96: String(price), liquidity: String(liquidity), tick };
  }
  const manager = at(script.exchanges.factories.v4.address);
  const entry = BigInt(keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [pool, POOLS_SLOT])));
  const read = async (slot: bigint) =>
    BigInt(
      await client.readContract({ ...manager, functionName: 'extsload', args: [numberToHex(slot, { size: 32 })] }),
    );
  const word = await read(entry);
  const tick = Number(BigInt.asIntN(24, word >> 160n));
  const liquidity = BigInt.asUintN(128, await read(entry + LIQUIDITY_OFFSET));
  return { ...none, sqrt_price_x96: String(BigInt.asUintN(160, word)), liquidity: String(liquidity), tick };
}

/** Numbers of rows, as text. */
async function countRows(database: Database): Promise<string> {
  const counts = ['swaps', 'pool_states', 'pool_creations', 'trades'].map(
    (name) => `(SELECT count(*) FROM ${name}) AS ${name}`,
  );
  return JSON.stringify(await database.query(`SELECT ${counts.join(', ')}`));
}

/** All rows as text. Not the proofs of pools: they depend on the time at which a pool is examined. */
async function readAll(database: Database): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables: Record<string, string[]> = {};
  const read = async (name: string, text: string): Promise<void> => {
    const rows = await database.query<{ row: string }>(`${text} ORDER BY 1`);
    tables[name] = rows.map(({ row }) => row);
  };
  for (const name of ['swaps', 'pool_states', 'pool_creations', 'trades'])
    await read(name, `SELECT to_jsonb(stored)::text AS row FROM ${name} AS stored`);
  await read('tick_liquidity', `SELECT (to_jsonb(stored))::text AS row FROM tick_liquidity AS stored WHERE net <> 0`);
  await read(
    'pools',
    `SELECT (to_jsonb(pools) - '{proof,proof_block,due_at,lease_until,holder,attempts,error_code,error_message}'::text[])::text AS row
     FROM pools WHERE ${NAMED}`,
  );
  return tables;
}
