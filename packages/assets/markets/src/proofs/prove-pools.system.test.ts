import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import { openPool } from '@chainstead/node-reads/testing';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  compileAssetContracts,
  type Devnet,
  deployExchanges,
  type ExchangeDevnet,
  type ExchangePool,
  exampleChain,
  startDevnet,
  startNodeProxy,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodePoolEvent } from '../events/decode-pool-event.ts';
import { withCustomExchanges } from '../exchanges/custom-exchanges.ts';
import { type ChainExchanges, chainExchanges, knownExchanges } from '../exchanges/exchanges-of-chain.ts';
import { decodePoolCreation, type ProvenPool, recomputePool } from '../exchanges/prove-pool.ts';
import { deployHostilePools, type HostilePools } from '../testing/hostile-pools.ts';
import type { SeenPool } from './pool-proof-steps.ts';
import { provePools } from './prove-pools.ts';

const { signal } = new AbortController();
const MANY_PAIRS = 12;

let devnet: Devnet;
let uniswap: ExchangeDevnet;
let hostile: HostilePools;
let chain: Chain;
let exchanges: ChainExchanges;
let upstreams: UpstreamPool;
let tokens: readonly [Address, Address];
let pools: Record<'v2' | 'v3' | 'v4', ExchangePool>;
let pairs: ExchangePool[];
let calls = 0;
/** Block parameters of eth_calls. */
const blocks = new Set<string>();
let proxy: Awaited<ReturnType<typeof startNodeProxy>>;

beforeAll(async () => {
  devnet = await startDevnet({ chainId: 1 });
  uniswap = await deployExchanges(devnet);
  hostile = await deployHostilePools(devnet);
  const { v2, v3, v4 } = uniswap.factories;
  const multicall = await devnet.deploy((await compileAssetContracts())('Multicall3'));
  chain = exampleChain({ multicall3: { address: multicall, blockCreated: 0 } });
  exchanges = withCustomExchanges(1, [
    { family: 'v2', factory: v2.address, name: 'Uniswap v2', initCodeHash: hashOfPools('v2') },
    { family: 'v3', factory: v3.address, name: 'Uniswap v3', initCodeHash: hashOfPools('v3') },
    { family: 'v4', factory: v4.address, name: 'Uniswap v4' },
  ]);
  tokens = [await uniswap.deployToken('ONE'), await uniswap.deployToken('TWO')];
  pools = {
    v2: await uniswap.createPool({ version: 'v2', tokens }),
    v3: await uniswap.createPool({ version: 'v3', tokens, fee: 500 }),
    v4: await uniswap.createPool({ version: 'v4', tokens, fee: 10_000 }),
  };
  pairs = [];
  for (let one = 1; one <= MANY_PAIRS; one++) {
    const other = parseAddress(`0x${one.toString(16).padStart(40, '0')}`);
    pairs.push(await uniswap.createPool({ version: 'v2', tokens: [tokens[0], other] }));
  }
  proxy = await startNodeProxy(devnet.url, {
    refuse({ method, params }) {
      if (method !== 'eth_call') return undefined;
      calls++;
      blocks.add(JSON.stringify(params[1]));
      return undefined;
    },
  });
  upstreams = await openPool(chain, proxy.url);
});
afterAll(async () => {
  await upstreams.close();
  await proxy.close();
  await devnet.stop();
});

/** Of Uniswap on Ethereum: the packages have the same contracts. */
function hashOfPools(family: string): string | undefined {
  const found = knownExchanges(1).all.find(({ exchange }) => exchange.name === `Uniswap ${family}`);
  return found?.deployment.addressRule?.initCodeHash;
}

async function newest() {
  const { number, hash } = await devnet.client.getBlock();
  return { number: Number(number), hash: parseHash(hash) };
}

/** What the factories announced. */
async function creations(): Promise<ProvenPool[]> {
  const logs = await devnet.client.getLogs({ fromBlock: 0n });
  return logs.flatMap(({ address, topics, data }) => {
    const log = { address: parseAddress(address), topics: topics.map(parseHash), data };
    return decodePoolCreation(log, exchanges) ?? [];
  });
}

/** Verdicts at the newest block, and the eth_calls they took. */
async function prove(seen: readonly SeenPool[], known: ChainExchanges = exchanges) {
  const before = calls;
  const verdicts = await provePools(seen, { chain, upstreams, exchanges: known, block: await newest() }, signal);
  return { verdicts, calls: calls - before };
}

const seenAt = (pool: Address | ExchangePool): SeenPool => {
  const address = typeof pool === 'string' ? pool : parseAddress(pool.pool);
  return { pool: address, emitter: address, tokens: null };
};
const provenFacts = ({ pool, tokens: of, fee, tickSpacing }: ExchangePool, name: string) => ({
  verdict: 'proven',
  proven: {
    ...{ pool, tokens: of, exchange: { name }, isStable: null, hooks: null },
    ...(name === 'Uniswap v2' ? { fee: null, tickSpacing: null } : { fee, tickSpacing }),
  },
});

describe('pools of real contracts', () => {
  test('trade', async () => {
    for (const pool of Object.values(pools)) {
      const { length } = (await uniswap.addLiquidity(pool, [10n ** 20n, 10n ** 20n])).logs;
      expect(length).toBeGreaterThan(2);
      for (const token of pool.tokens) {
        const { logs } = await uniswap.swap(pool, { token, amount: 10n ** 15n });
        expect(logs.length).toBeGreaterThanOrEqual(3);
      }
      await uniswap.removeLiquidity(pool, 10n ** 10n);
    }
  });

  test('are proven by their factory', async () => {
    const { verdicts } = await prove([seenAt(pools.v2), seenAt(pools.v3)]);
    expect(verdicts).toMatchObject([provenFacts(pools.v2, 'Uniswap v2'), provenFacts(pools.v3, 'Uniswap v3')]);
  });

  test('have the same facts by creation event and by address', async () => {
    const created = await creations();
    for (const version of ['v2', 'v3', 'v4'] as const) {
      const { pool } = pools[version];
      expect(created.filter((one) => one.pool === pool)).toHaveLength(1);
    }
    for (const pool of [pools.v2, pools.v3]) {
      const { verdicts } = await prove([seenAt(pool)]);
      const found = created.find((one) => one.pool === pool.pool);
      expect(verdicts).toEqual([{ verdict: 'proven', proven: found }]);
      expect(recomputePool(parseAddress(pool.pool), pool.tokens, exchanges)).toMatchObject({
        ...{ pool: found?.pool, tokens: found?.tokens, fee: found?.fee, exchange: found?.exchange },
      });
    }
  });

  test('are asked about together', async () => {
    blocks.clear();
    const { verdicts, calls: made } = await prove(pairs.map(seenAt));
    expect(verdicts).toMatchObject(pairs.map((pair) => provenFacts(pair, 'Uniswap v2')));
    // The factory of each, both tokens, and the pair of the factory.
    expect(made).toBe(3);
    expect([...blocks]).toEqual([JSON.stringify({ blockHash: (await newest()).hash, requireCanonical: true })]);
  });

  test('are disproved at a block before their creation', async () => {
    const { number } = await devnet.client.getBlock();
    const block = await newest();
    const young = await uniswap.createPool({ version: 'v3', tokens, fee: 3_000 });
    expect(block.number).toBe(Number(number));
    const context = { chain, upstreams, exchanges };
    expect(await provePools([seenAt(young)], { ...context, block }, signal)).toEqual([{ verdict: 'disproved' }]);
    expect(await provePools([seenAt(young)], { ...context, block: await newest() }, signal)).toMatchObject([
      provenFacts(young, 'Uniswap v3'),
    ]);
  });

  test('of v4 are proven by their key', async () => {
    const { address: emitter } = uniswap.factories.v4;
    const { pool, tokens: currencies, fee, tickSpacing, hooks } = pools.v4;
    const { keyBook } = hostile;
    const withReader = chainExchanges(
      exchanges.all.map((one) => ({ ...one, deployment: { ...one.deployment, keyReader: keyBook.address } })),
    );
    const seen = [{ pool, emitter, tokens: null }];
    const before = { chain, upstreams, exchanges: withReader, block: { number: 1, hash: (await newest()).hash } };
    expect(await provePools(seen, before, signal)).toMatchObject([{ verdict: 'undecided' }]);
    const key = { currency0: currencies[0], currency1: currencies[1], fee, tickSpacing, hooks };
    await devnet.send({ ...keyBook, functionName: 'put', args: [pool.slice(0, 52), key] });
    expect((await prove(seen, withReader)).verdicts).toMatchObject([provenFacts(pools.v4, 'Uniswap v4')]);
  });

  test('of v4 are proven by the event of their manager if nobody returns their key', async () => {
    const { address: emitter } = uniswap.factories.v4;
    const unknown = parseHash(`0x${'cd'.repeat(32)}`);
    const seen = [unknown, pools.v4.pool].map((pool) => ({ pool, emitter, tokens: null }));
    const { verdicts, calls: made } = await prove(seen);
    expect(verdicts).toMatchObject([{ verdict: 'undecided' }, provenFacts(pools.v4, 'Uniswap v4')]);
    expect(made).toBe(0);
  });
});

test('custom pools of Algebra Integral are proven by the event of their factory', async () => {
  const { customFactory } = hostile;
  const integral = withCustomExchanges(1, [{ family: 'algebra-integral', factory: customFactory.address }]);
  const pool = await hostile.fakePair(customFactory.address, pools.v2.tokens);
  const other = await hostile.fakePair(customFactory.address, pools.v2.tokens);
  await devnet.send({ ...customFactory, functionName: 'announce', args: [...pools.v2.tokens, pool] });
  const { verdicts } = await prove([seenAt(other), seenAt(pool)], integral);
  expect(verdicts).toMatchObject([
    { verdict: 'undecided', tokens: pools.v2.tokens },
    { verdict: 'proven', proven: { pool, tokens: pools.v2.tokens } },
  ]);
});

describe('contracts that are no pools', () => {
  // Invariant: PRICE-PROVEN-POOLS
  test('are disproved although they name the real factory', async () => {
    const perfect = await hostile.fakePair(uniswap.factories.v2.address, pools.v2.tokens);
    const [, swap] = await hostile.trade(perfect);
    expect(swap && decodePoolEvent(swap, exchanges.vaults)).toMatchObject({ kind: 'swap', pool: perfect });
    const fakes = [
      perfect,
      await hostile.fakePair(uniswap.factories.v3.address, pools.v3.tokens),
      await hostile.fakePair(uniswap.factories.v4.address, pools.v4.tokens),
      await hostile.fakePair(ZERO_ADDRESS, pools.v2.tokens),
      tokens[0],
      parseAddress(`0x${'e0'.repeat(20)}`),
    ];
    const { verdicts } = await prove(fakes.map(seenAt));
    expect(verdicts).toEqual(fakes.map(() => ({ verdict: 'disproved' })));
  });

  test('are no obstacle to others if they revert, burn all gas or return garbage', async () => {
    const { reverting, burning, garbage } = hostile;
    const lateBurning = await hostile.lateBurning(uniswap.factories.v3.address);
    const bad = [reverting, burning, garbage, lateBurning];
    const seen = [...bad.map(seenAt), ...pairs.map(seenAt), ...bad.map(seenAt), seenAt(pools.v3)];
    const { verdicts } = await prove(seen);
    expect(verdicts).toMatchObject([
      ...bad.map(() => ({ verdict: 'disproved' })),
      ...pairs.map((pair) => provenFacts(pair, 'Uniswap v2')),
      ...bad.map(() => ({ verdict: 'disproved' })),
      provenFacts(pools.v3, 'Uniswap v3'),
    ]);
  });
});

test('pools are unread if no node has the block, or if none responds', async () => {
  const context = { chain, exchanges, upstreams };
  const block = { number: 1, hash: parseHash(`0x${'ab'.repeat(32)}`) };
  const seen = [seenAt(pools.v2), seenAt(pools.v3)];
  const unread = seen.map(() => ({ verdict: 'unread', reason: { code: expect.any(String) } }));
  expect(await provePools(seen, { ...context, block }, signal)).toMatchObject(unread);
  const silent = await startNodeProxy(devnet.url, {
    refuse: ({ method }) => (method === 'eth_call' ? { code: -32_000, message: 'overloaded' } : undefined),
  });
  const failing = await openPool(chain, silent.url);
  try {
    const at = { ...context, upstreams: failing, block: await newest() };
    expect(await provePools(seen, at, signal)).toMatchObject(unread);
  } finally {
    await failing.close();
    await silent.close();
  }
});
