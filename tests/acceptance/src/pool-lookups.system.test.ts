/** Prices of the running program from pools that are older than its index and have not moved since. */

import { type Address, parseAddress } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { deployExchanges, type ExchangeDevnet, type ExchangePool, startNodeProxy } from '@chainstead/testkit';
import { parseAbi } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';
import { waitUntil } from './indexed-chain.ts';

const KEY = 'acceptance-key-0123456789';
const CHAIN_ID = 1_337_061;
const UNIT = 10n ** 18n;
const DOLLAR = 10n ** 6n;

let stage: DevnetProgramStage;
let proxy: Awaited<ReturnType<typeof startNodeProxy>>;
let exchanges: ExchangeDevnet;
let url: string;
let tokens: Record<'usd' | 'cats' | 'dogs' | 'birds' | 'fish' | 'none' | 'late2' | 'late3', Address>;
/** By their token: one of each exchange. */
let pools: Record<'cats' | 'dogs' | 'birds' | 'fish', ExchangePool>;
/** Pools of tokens that no request names before their first event. */
let late: Record<'late2' | 'late3', ExchangePool>;
let calls = 0;

/** Amounts in the order of the pool's tokens. */
const ordered = ({ tokens: [token0] }: ExchangePool, token: bigint, dollars: bigint): [bigint, bigint] =>
  token0 === tokens.usd ? [dollars, token] : [token, dollars];

beforeAll(async () => {
  stage = await openDevnetProgramStage(CHAIN_ID);
  const { devnet } = stage;
  exchanges = await deployExchanges(devnet, { hasForks: true });
  tokens = {
    usd: await exchanges.deployToken('USD', 6),
    cats: await exchanges.deployToken('CATS'),
    dogs: await exchanges.deployToken('DOGS'),
    birds: await exchanges.deployToken('BIRDS'),
    fish: await exchanges.deployToken('FISH'),
    none: await exchanges.deployToken('NONE'),
    late2: await exchanges.deployToken('LATE2'),
    late3: await exchanges.deployToken('LATE3'),
  };
  const { usd, cats, dogs, birds, fish } = tokens;
  // A cat for 2.5 dollars, a dog for 4, a bird for 5, a fish for 7.
  pools = {
    cats: await exchanges.createPool({ version: 'v2', tokens: [cats, usd] }),
    dogs: await exchanges.createPool({ version: 'v3', tokens: [dogs, usd], fee: 500, price: [10n ** 12n, 4n] }),
    birds: await exchanges.createPool({
      ...{ version: 'v3-pancake', tokens: [birds, usd], fee: 2_500, price: [10n ** 12n, 5n] },
    }),
    fish: await exchanges.createPool({
      version: 'algebra-integral',
      tokens: [fish, usd],
      price: [10n ** 12n, 7n],
    }),
  };
  await exchanges.addLiquidity(pools.cats, ordered(pools.cats, 1_000n * UNIT, 2_500n * DOLLAR));
  await exchanges.addLiquidity(pools.dogs, ordered(pools.dogs, 1_000n * UNIT, 4_000n * DOLLAR));
  await exchanges.addLiquidity(pools.birds, ordered(pools.birds, 1_000n * UNIT, 5_000n * DOLLAR));
  await exchanges.addLiquidity(pools.fish, ordered(pools.fish, 1_000n * UNIT, 7_000n * DOLLAR));
  const { late2, late3 } = tokens;
  late = {
    late2: await exchanges.createPool({ version: 'v2', tokens: [late2, usd] }),
    late3: await exchanges.createPool({ version: 'v3', tokens: [late3, usd], fee: 500, price: [10n ** 12n, 4n] }),
  };
  for (const name of ['late2', 'late3'] as const)
    await exchanges.addLiquidity(late[name], ordered(late[name], 1_000n * UNIT, 4_000n * DOLLAR));
  // The pools have stood for an hour before the first indexed block.
  await devnet.client.mine({ blocks: 20 });
  await devnet.client.increaseTime({ seconds: 3_600 });
  await devnet.client.mine({ blocks: 2 });
  const { number } = await devnet.client.getBlock();
  proxy = await startNodeProxy(devnet.url, {
    refuse({ method }) {
      if (method === 'eth_call') calls++;
      return undefined;
    },
  });
  const factories = Object.entries(exchanges.factories).map(([family, { address }]) => `${family}:${address}`);
  const program = stage.start(KEY, {
    RPC_URLS_DEVNET: proxy.url,
    START_BLOCK_DEVNET: String(number + 1n),
    EXCHANGES_DEVNET: factories.join(),
    DOLLAR_TOKENS_DEVNET: usd,
    // A busy machine is slow.
    ON_DEMAND_WAIT_MS: '20000',
  });
  url = await program.url;
  await devnet.client.mine({ blocks: 4 });
  await untilIndexed();
});
afterAll(async () => {
  await stage?.close();
  await proxy?.close();
});

async function untilIndexed(): Promise<void> {
  await waitUntil(async () => {
    const { hash } = await stage.devnet.client.getBlock();
    const rows = await stage.scratch.database.query<{ hash: string }>(
      sql`SELECT '0x' || encode(block_hash, 'hex') AS hash FROM sync_chains JOIN blocks
         ON blocks.chain_id = sync_chains.chain_id AND block_number = checkpoint`,
    );
    return rows[0]?.hash === hash ? null : JSON.stringify(rows);
  });
}

interface PriceReply {
  readonly status: number;
  readonly body: {
    readonly message?: string;
    readonly details?: { readonly reason?: string };
    readonly usdPrice?: number;
    readonly priceLastChangedAtBlock?: string;
    readonly explanation?: {
      readonly price_numerator: string;
      readonly price_denominator: string;
      readonly candidates: readonly { readonly pair_address: string; readonly reading_block: string | null }[];
    };
  };
}

async function get(token: Address): Promise<PriceReply> {
  const response = await fetch(`${url}/api/v2.2/erc20/${token}/price?chain=devnet&explain=true`, {
    headers: { 'x-api-key': KEY },
  });
  return { status: response.status, body: (await response.json()) as PriceReply['body'] };
}

const READS = parseAbi([
  'function getReserves() view returns (uint112, uint112, uint32)',
  // PancakeSwap has one wider word, behind the price.
  'function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint32, bool)',
  'function globalState() view returns (uint160 price, int24 tick, uint16, uint8, uint16, bool)',
]);

/** Dollars per whole token by the pool's contract, as base units of token 1 for so many of token 0. */
async function contractPrice(pool: ExchangePool): Promise<readonly [numerator: bigint, denominator: bigint]> {
  const { client } = stage.devnet;
  const at = { address: parseAddress(pool.pool), abi: READS } as const;
  const ratio = async (): Promise<readonly [bigint, bigint]> => {
    if (pool.version === 'v2') {
      const [reserve0, reserve1] = await client.readContract({ ...at, functionName: 'getReserves' });
      return [reserve1, reserve0];
    }
    const [sqrtPrice] =
      pool.version === 'algebra-integral'
        ? await client.readContract({ ...at, functionName: 'globalState' })
        : await client.readContract({ ...at, functionName: 'slot0' });
    return [sqrtPrice * sqrtPrice, 1n << 192n];
  };
  const [one, other] = await ratio();
  const [dollars, token] = pool.tokens[0] === tokens.usd ? [other, one] : [one, other];
  return [dollars * UNIT, token * DOLLAR];
}

/** Balances that a reorg or a transfer made unknown are read again within seconds. */
async function untilPriced(token: Address): Promise<void> {
  await waitUntil(async () => {
    const { status, body } = await get(token);
    return status === 200 ? null : JSON.stringify(body);
  });
}

async function expectPrice(token: Address, pool: ExchangePool): Promise<PriceReply['body']> {
  const { status, body } = await get(token);
  expect([status, body.message]).toEqual([200, undefined]);
  const { price_numerator, price_denominator, candidates = [] } = body.explanation ?? {};
  const [numerator, denominator] = await contractPrice(pool);
  expect(BigInt(price_numerator ?? 0) * denominator).toBe(BigInt(price_denominator ?? 0) * numerator);
  expect(candidates.map((one) => one.pair_address)).toEqual([pool.pool]);
  return body;
}

/** Each token with a pool, and the pool. */
const priced = () =>
  (['cats', 'dogs', 'birds', 'fish'] as const).map((name) => ({ token: tokens[name], pool: pools[name] }));

it('prices tokens at the first request, by the states that their pools have', async () => {
  const head = await stage.devnet.client.getBlock();
  const prices: (number | undefined)[] = [];
  for (const { token, pool } of priced()) {
    const { usdPrice, explanation } = await expectPrice(token, pool);
    expect(explanation?.candidates).toMatchObject([{ reading_block: String(head.number) }]);
    prices.push(usdPrice === undefined ? undefined : Math.round(usdPrice * 1e9) / 1e9);
  }
  expect(prices).toEqual([2.5, 4, 5, 7]);
});

it('returns 404 for a token without pools, and looks each token up once', async () => {
  const message = 'No liquidity pools found for the specified token address';
  expect(await get(tokens.none)).toMatchObject({
    status: 404,
    body: { message, details: { reason: 'no-pools' } },
  });
  const before = calls;
  expect(await get(tokens.none)).toMatchObject({
    status: 404,
    body: { message, details: { reason: 'no-pools' } },
  });
  for (const { token, pool } of priced()) await expectPrice(token, pool);
  expect(calls).toBe(before);
});

it('reads the pools again if a reorg replaces the block', async () => {
  const { devnet, scratch } = stage;
  // Empty blocks of the same second would have the same hashes again.
  const [from] = await devnet.client.getAddresses();
  await devnet.reorg(2, [[{ from, to: from, value: '0x1' }, 0]]);
  await untilIndexed();
  for (const table of ['pool_readings', 'pool_lookups'])
    expect(await scratch.database.query(sql`SELECT FROM ${rawSql(table)}`)).toEqual([]);
  const head = await devnet.client.getBlock();
  for (const { token, pool } of priced()) {
    if (pool.version !== 'v2') await untilPriced(token);
    const { explanation } = await expectPrice(token, pool);
    expect(explanation?.candidates).toMatchObject([{ reading_block: String(head.number) }]);
  }
});

it('follows the events of the pools from then on', async () => {
  const read = (await get(tokens.cats)).body.explanation?.candidates[0]?.reading_block;
  for (const { token, pool } of priced()) {
    await exchanges.swap(pool, { token, amount: 20n * UNIT });
    await untilIndexed();
    const { number } = await stage.devnet.client.getBlock();
    const body = await expectPrice(token, pool);
    expect(body.priceLastChangedAtBlock).toBe(String(number));
    expect(body.explanation?.candidates).toMatchObject([{ reading_block: read }]);
  }
});

it('returns the price before a push to the first request for a token, which finds the push as the first event', async () => {
  for (const name of ['late2', 'late3'] as const) {
    // The pool holds less than a third of it.
    await exchanges.swap(late[name], { token: tokens.usd, amount: 12_000n * DOLLAR });
    await untilIndexed();
    const { status, body } = await get(tokens[name]);
    // Whether transfers of a new token explain its balances is unknown until a later one: then the depth of a concentrated pool is, too.
    if (name === 'late3') expect([status, body.details?.reason]).toEqual([404, 'depth-unread']);
    else expect([status, Math.round(body.usdPrice ?? 0)]).toEqual([200, 4]);
  }
});
