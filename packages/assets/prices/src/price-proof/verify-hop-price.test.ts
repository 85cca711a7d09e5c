/** Proofs of a price through another token: what holds, and that no forged explanation does. */
import { ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { addressOf, storeToken } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ShownTokenPrice } from '../token-price/serve/price-response.ts';
import { recomputePrice } from '../token-price/testing/recompute-price.ts';
import {
  acceptedMembers,
  acceptedWithOtherDigit,
  acceptedWithOtherEvidence,
  fileOf as copyOf,
  type File,
  rejection,
  sealed,
} from './testing/changed-proof.ts';
import {
  CATS,
  DOG_PAIR,
  DOGS,
  DOLLAR_AGGREGATOR,
  ETHER_AGGREGATOR,
  eth,
  HEAD,
  PAIR,
  POOL,
  USDC,
  WETH,
} from './testing/priced-chain.ts';
import { chains, hashOf, NO_TRUST, openProvenPrices } from './testing/proven-prices.ts';
import { verifyPrice } from './verify-price.ts';

const scratch = scratchOfFile();
let stage: Awaited<ReturnType<typeof openProvenPrices>>;
let price: ShownTokenPrice;

beforeAll(async () => {
  stage = await openProvenPrices(scratch.database);
  price = await stage.prove(stage.read, DOGS);
});
afterAll(() => stage?.close());

const fileOf = (document: unknown = price): File => copyOf(document);

test('shows both steps, what is proven and what is not', () => {
  const verified = verifyPrice(fileOf(), chains, { blockHash: hashOf(HEAD), blockHashes: null });
  const { explanation } = price;
  // Two CATS per DOG, by the median: the newest state is 7 % above it.
  expect(explanation).toMatchObject({ rule: 'median', hops: [{ token_address: CATS, rule: 'spot' }] });
  const [hop] = explanation?.hops ?? [];
  const twice = BigInt(hop?.price_numerator ?? 0) * 2n * BigInt(explanation?.price_denominator ?? 0);
  expect(BigInt(explanation?.price_numerator ?? 0) * BigInt(hop?.price_denominator ?? 0)).toBe(twice);
  const again = explanation === undefined ? null : recomputePrice(explanation);
  expect(again).toMatchObject({ pool: DOG_PAIR.address, rule: 'median' });
  expect(verified).toMatchObject({
    ...{ token: DOGS, usd: price.usdPriceFormatted, block: { number: HEAD, hash: hashOf(HEAD) } },
    ...{ numerator: explanation?.price_numerator, denominator: explanation?.price_denominator },
    blocksToCheck: [
      { number: 5, hash: hashOf(5) },
      { number: 10, hash: hashOf(10) },
    ],
  });
  const pools = [...(explanation?.candidates ?? []), ...(hop?.candidates ?? [])];
  expect(pools.map(({ pair_address: pool }) => pool).toSorted()).toEqual(
    [DOG_PAIR, PAIR, POOL].map(({ address }) => address).toSorted(),
  );
  expect(verified.proven).toEqual([
    'Block 400: number, time and receipts root follow from its hash',
    '100 earlier blocks are linked to it by parent hashes',
    '8 pool states from logs in 11 receipts',
    `Round 77 of feed ${DOLLAR_AGGREGATOR}: ${USDC} at 0.9999 US dollars`,
    `Round 4242 of feed ${ETHER_AGGREGATOR}: ${WETH} at 2000.12345678 US dollars`,
    ...pools.map(
      (pool) =>
        `Pool ${pool.pair_address} of these tokens belongs to ${pool.exchange_name}: its address follows from them`,
    ),
    `Hop ${CATS} at ${hop?.price_usd} US dollars, by its pools against anchors`,
    'The price follows from the states, anchors and rules',
  ]);
  expect(verified.unproven).toEqual([
    { fact: `Balances of pool ${POOL.address}`, reason: 'contract-call' },
    ...[CATS, DOGS].map((token) => ({ fact: `Decimals of ${token}`, reason: 'contract-call' })),
    ...pools.map((pool) => ({ fact: `Age of pool ${pool.pair_address}`, reason: 'absence' })),
    { fact: 'No later log of these pools and feeds until the block', reason: 'absence' },
    { fact: 'No other pools that count', reason: 'absence' },
    { fact: 'No direct price of the token', reason: 'absence' },
  ]);
  expect(price.proof?.unproven).toEqual(verified.unproven);
});

test('begins later if nodes lack the receipts of a pool of the hop', async () => {
  const partial = await stage.prove(async (question) => {
    const evidence = await stage.read(question);
    const without = { reason: 'no-proof-from-node', header: '0x', receipts: [], logs: [] } as const;
    return {
      ...evidence,
      blocks: evidence.blocks.map((one) => (one.hash === hashOf(380) ? { ...one, ...without } : one)),
    };
  }, DOGS);
  const verified = verifyPrice(fileOf(partial), chains, NO_TRUST);
  expect(verified.usd).toBe(price.usdPriceFormatted);
  expect(verified.unproven).toContainEqual({
    ...{ fact: `States of pool ${PAIR.address} until block 380`, reason: 'no-proof-from-node' },
  });
});

test('has no evidence of a hop whose pools of the token do not count', async () => {
  const { database } = scratch;
  const [deep, shallow, birds] = [addressOf(0x9c1), addressOf(0x9c2), addressOf(0x33)];
  await storeToken(database, eth.id, birds, {
    name: 'Birds',
    symbol: 'BIRDS',
    decimals: 6,
    facts_status: 'known',
  });
  for (const [pool, token0, token1, reserve0, reserve1] of [
    [deep, birds, USDC, 80_000, 80_000],
    [shallow, DOGS, birds, 100, 499],
  ] as const) {
    await database.query(
      sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
       VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${hexBytes(pool)}, 'proven', 'Uniswap v2', ${hexBytes(PAIR.factory)}, ${hexBytes(token0)}, ${hexBytes(token1)}, true, NULL)`,
    );
    await database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
       VALUES (address_key(${hexBytes(pool)}), ${eth.id}, 7, 0, 0, ${hexBytes(pool)}, ${String(reserve0 * 1e6)}, ${String(reserve1 * 1e6)})`,
    );
  }
  // No block has these states, so evidence of them would be missing.
  const proven = await stage.prove(stage.read, DOGS);
  expect(proven.explanation?.hops.map((hop) => hop.token_address).toSorted()).toEqual([CATS, birds].toSorted());
  expect(proven.explanation?.candidates.map(({ role }) => role).toSorted()).toEqual(['chosen', 'too-shallow']);
  const verified = verifyPrice(fileOf(proven), chains, NO_TRUST);
  expect(verified.usd).toBe(price.usdPriceFormatted);
  expect(verified.proven.filter((fact) => fact.startsWith('Hop '))).toHaveLength(1);
  expect(proven.proof?.pools).toHaveLength(3);
  expect(proven.proof?.unproven).toEqual(price.proof?.unproven);
});

test('is rejected with one other digit anywhere, for 50 seeds', () => {
  expect(acceptedWithOtherDigit(price)).toEqual([]);
});

test('is rejected with one other digit of its evidence and a new digest, for 50 seeds', () => {
  expect(acceptedWithOtherEvidence(price)).toEqual([]);
});

test('is rejected with any other member of a step and a new digest, except facts without a proof', () => {
  const hop = price.explanation?.hops[0]?.candidates ?? [];
  const place = hop.findIndex((one) => one.pair_address === POOL.address);
  expect(acceptedMembers(price, 'candidates')).toEqual([
    'candidates.0.created_time',
    'candidates.0.reading_block',
  ]);
  const accepted = acceptedMembers(price, 'hops').filter((path) => !/(created_time|reading_block)$/.test(path));
  // Earlier balances of a concentrated pool follow from no log.
  expect(accepted).toEqual(
    [0, 1].flatMap((state) => [0, 1].map((side) => `hops.0.candidates.${place}.states.${state}.balance${side}`)),
  );
});

const ownPool = (document: File): File => document.explanation.candidates[0];
const hopOf = (document: File): File => document.explanation.hops[0];
const placeIn = ({ candidates }: File, pool: string): number =>
  candidates.findIndex((one: File) => one.pair_address === pool);
const hopPool = (document: File, pool: string): File =>
  hopOf(document).candidates[placeIn(hopOf(document), pool)];
const evidenceOf = (document: File, pool: string): File =>
  document.proof.pools.find((one: File) => one.pair_address === pool);

/** Removes the states before a block, and their evidence, so that the pool seems to begin there. */
function begin(document: File, candidate: File, block: number): void {
  candidate.states = candidate.states.filter((state: File) => Number(state.block) >= block);
  candidate.created_time = candidate.states[0].time;
  const evidence = evidenceOf(document, candidate.pair_address);
  evidence.logs = evidence.logs.slice(-candidate.states.length);
}

describe('on an unknown chain', () => {
  const onUnknownChain = (text: string): File => {
    const document = JSON.parse(text);
    document.proof.chain_id = '987654321';
    return sealed(document);
  };
  /** Without the native token as an anchor. */
  const withoutNative = (): File => {
    const document = fileOf();
    const isOther = (anchor: File) => anchor.token_address !== ZERO_ADDRESS;
    document.explanation.anchors = document.explanation.anchors.filter(isOther);
    return document;
  };
  const wraps = expect.stringContaining('wraps the native token');

  test('pools may be priced with the native token', () => {
    // Also as an anchor, the native token is no other form of the hop.
    const document = onUnknownChain(JSON.stringify(withoutNative()).replaceAll(WETH, ZERO_ADDRESS));
    const { usd, unproven } = verifyPrice(document, chains, NO_TRUST);
    expect(usd).toBe(price.usdPriceFormatted);
    expect(unproven.map(({ fact }) => fact)).not.toContainEqual(wraps);
  });

  test('a hop with pools of the native token is shown as not proven to wrap it', () => {
    const document = withoutNative();
    for (const pool of hopOf(document).candidates) pool.sides[0].token_address = ZERO_ADDRESS;
    const { unproven } = verifyPrice(onUnknownChain(JSON.stringify(document)), chains, NO_TRUST);
    expect(unproven).toContainEqual({ fact: `${CATS} wraps the native token`, reason: 'setting' });
  });
});

const YOUNG = 'no pool that counts and is at least 1800 seconds old';

describe('a forged explanation is rejected', () => {
  test.each<readonly [name: string, change: (document: File) => void, message: string]>([
    [
      'a hop that is an anchor',
      (one) => (hopOf(one).token_address = WETH),
      `explanation.hops[0].token_address is ${WETH}, which is an anchor`,
    ],
    [
      'a hop that is a dollar token without a valid value',
      (one) => {
        hopOf(one).token_address = USDC;
        one.explanation.anchors = one.explanation.anchors.filter((anchor: File) => anchor.token_address !== USDC);
      },
      `explanation.hops[0].token_address is ${USDC}, which is an anchor`,
    ],
    [
      'a hop equal to the token',
      (one) => (hopOf(one).token_address = DOGS),
      `explanation.hops[0].token_address is ${DOGS}, which is the priced token`,
    ],
    [
      'a hop twice',
      (one) => one.explanation.hops.push(hopOf(fileOf())),
      `explanation.hops[1].token_address is ${CATS}, which is an earlier hop too`,
    ],
    [
      'a hop without a pool of the token',
      (one) => one.explanation.hops.push({ ...hopOf(fileOf()), token_address: POOL.address }),
      `explanation.hops[1].token_address is ${POOL.address}, which no pool of the candidates trades`,
    ],
    [
      'a token that is an anchor',
      (one) => one.explanation.anchors.push({ ...one.explanation.anchors[0], token_address: DOGS }),
      `explanation.hops are not empty, but the token ${DOGS} is an anchor`,
    ],
    [
      'a hop below the minimum',
      (one) => (one.explanation.rules.hop_min_usd = 1_000_000),
      'explanation.rules.hop_min_usd is 1000000, but this program verifies prices by 50000',
    ],
    [
      'a hop with young pools',
      (one) => {
        begin(one, hopPool(one, PAIR.address), 380);
        begin(one, hopPool(one, POOL.address), 396);
      },
      `explanation.hops[0] has ${YOUNG}`,
    ],
    [
      'a young pool of the token',
      (one) => begin(one, ownPool(one), 391),
      'explanation.candidates[0] is younger than 1800 seconds, which no price through a hop allows',
    ],
    [
      'a hop priced by a pool against the token',
      (one) => {
        hopOf(one).candidates = [ownPool(fileOf())];
        one.proof.pools = [one.proof.pools[0], one.proof.pools[0]];
        one.proof.feeds = [];
      },
      'explanation.hops[0].candidates[0].sides do not contain an anchor with a price',
    ],
    [
      'another fraction of a hop',
      (one) => (hopOf(one).price_numerator += '0'),
      'explanation.hops[0].price_numerator is ',
    ],
    [
      'another shown price of a hop',
      (one) => (hopOf(one).price_usd = '1'),
      'explanation.hops[0].price_usd is 1, but ',
    ],
    ['another depth of a hop', (one) => (hopOf(one).depth_usd = '1'), 'explanation.hops[0].depth_usd is 1, but '],
    [
      'another rule of a hop',
      (one) => (hopOf(one).rule = 'median'),
      'explanation.hops[0].rule is median, but spot follows from the states, anchors and rules',
    ],
    ['another rule', (one) => (one.explanation.rule = 'spot'), 'explanation.rule is spot, but median follows'],
    [
      'another limit of each step',
      (one) => (one.explanation.rules.hop_jump_limit = 1.1),
      'explanation.rules.hop_jump_limit is 1.1, but this program verifies prices by 1.048808',
    ],
    ['no hop', (one) => (one.explanation.hops = []), 'proof.pools has 3 pools, but 1 count'],
    [
      'no hop, and no evidence for it',
      (one) => {
        one.explanation.hops = [];
        one.proof.pools.splice(1);
        one.proof.feeds = [];
      },
      'explanation.candidates[0].sides do not contain an anchor with a price',
    ],
    ['no evidence of a pool of the hop', (one) => one.proof.pools.pop(), 'proof.pools has 2 pools, but 3 count'],
    [
      'no evidence of an anchor of the hop',
      (one) => one.proof.feeds.pop(),
      'proof.feeds has 1 feeds, but 2 decide',
    ],
    [
      'evidence of another pool',
      (one) => one.proof.pools.reverse(),
      'proof.pools[0].pair_address is not that of the pool at this place of those that count',
    ],
    [
      'a left out log of a pool of the hop',
      (one) => evidenceOf(one, PAIR.address).logs.pop(),
      '.states[2].reserve0 is 305000000000, but the logs prove 310000000000',
    ],
    [
      'a reserve of a pool of the hop',
      (one) => (hopPool(one, PAIR.address).states[1].reserve0 = '1'),
      '.states[1].reserve0 is 1, but the logs prove 310000000000',
    ],
    [
      'a role of a pool of the hop',
      (one) => (hopPool(one, PAIR.address).role = 'too-shallow'),
      'proof.pools has 3 pools, but 2 count',
    ],
    [
      'another exchange of a pool of the hop',
      (one) => (hopPool(one, PAIR.address).exchange_name = 'SushiSwap'),
      `differs from the facts of the address ${PAIR.address}`,
    ],
    [
      'decimals of the hop that contradict those of the own pool',
      (one) => {
        for (const pool of hopOf(one).candidates) pool.sides[0].decimals = 7;
      },
      `explanation.hops[0].candidates[0].sides have 7 decimals of ${CATS}, and 6 elsewhere`,
    ],
    [
      'the rule of an anchor',
      (one) => {
        one.explanation.rule = 'anchor';
        one.proof.feeds = [];
      },
      `explanation.anchors do not contain ${DOGS}`,
    ],
    ['the fraction', (one) => (one.explanation.price_numerator += '0'), 'explanation.price_numerator is '],
    [
      'the cost of a move',
      (one) => (one.explanation.move_cost_usd = '1.00'),
      'explanation.move_cost_usd is 1.00, but ',
    ],
  ])('with a new digest and %s', (_, change, message) => {
    const document = fileOf();
    change(document);
    const found = rejection(() => verifyPrice(sealed(document), chains, NO_TRUST));
    expect(found).toMatch(/^The price proof is invalid: /);
    expect(found).toContain(message);
  });
});
