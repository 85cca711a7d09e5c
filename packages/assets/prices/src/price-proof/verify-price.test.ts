/** Proofs of a price over hand-made blocks with real hashes, roots and blooms: what holds, and that nothing altered does. */
import { hexBytes, sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ShownTokenPrice } from '../token-price/serve/price-response.ts';
import { priceRoutesOf } from '../token-price/testing/price-routes-of.ts';
import {
  acceptedWithOtherDigit,
  acceptedWithOtherEvidence,
  fileOf as copyOf,
  type File,
  rejection,
  sealed,
} from './testing/changed-proof.ts';
import {
  CATS,
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
const api = madeForFile(() => exampleApi(scratch.database, priceRoutesOf(scratch.database, eth)));
let stage: Awaited<ReturnType<typeof openProvenPrices>>;
let price: ShownTokenPrice;

beforeAll(async () => {
  stage = await openProvenPrices(scratch.database);
  price = await stage.prove(stage.read);
});
afterAll(() => stage?.close());

const fileOf = (document: unknown = price): File => copyOf(document);

describe('the numbers of a file from others', () => {
  test.each<[string, (file: File) => void]>([
    [
      'explanation.candidates[0].sides[0].decimals',
      (file) => (file.explanation.candidates[0].sides[0].decimals = 1_000_000),
    ],
    ['explanation.rules.window_seconds', (file) => (file.explanation.rules.window_seconds = -1)],
    ['explanation.rules.jump_limit', (file) => (file.explanation.rules.jump_limit = 1e300)],
    ['explanation.time', (file) => (file.explanation.time = 1e15)],
    [
      'explanation.candidates',
      (file) => (file.explanation.candidates = Array(10_001).fill(file.explanation.candidates[0])),
    ],
    [
      'explanation.candidates[0].states[0]',
      (file) => (file.explanation.candidates[0].states[0].reserve0 = '9'.repeat(79)),
    ],
    [
      'explanation.anchors[0].price_numerator',
      (file) => (file.explanation.anchors[0].price_numerator = '9'.repeat(1_025)),
    ],
    ['proof.headers[0]', (file) => (file.proof.headers[0] = `0x${'ab'.repeat(8_388_608)}`)],
    ['proof.receipts[0].nodes', (file) => (file.proof.receipts[0].nodes = Array(17).fill('0x'))],
  ])('are bounded: %s', (path, change) => {
    const file = fileOf();
    change(file);
    expect(rejection(() => verifyPrice(sealed(file), chains, NO_TRUST))).toContain(path);
  });
});

describe('a proof that holds', () => {
  test('shows the price, what is proven and what is not', () => {
    const verified = verifyPrice(fileOf(), chains, { blockHash: hashOf(HEAD), blockHashes: null });
    expect(verified).toMatchObject({
      ...{ chainId: '1', token: CATS, block: { number: HEAD, hash: hashOf(HEAD) }, usd: price.usdPriceFormatted },
      ...{ numerator: price.explanation?.price_numerator, denominator: price.explanation?.price_denominator },
      // More than 256 blocks before the block of the price.
      blocksToCheck: [
        { number: 5, hash: hashOf(5) },
        { number: 10, hash: hashOf(10) },
      ],
    });
    const pools = price.explanation?.candidates ?? [];
    expect(pools.map(({ role }) => role).toSorted()).toEqual(['chosen', 'counted']);
    expect(verified.proven).toEqual([
      'Block 400: number, time and receipts root follow from its hash',
      '50 earlier blocks are linked to it by parent hashes',
      '6 pool states from logs in 9 receipts',
      `Round 77 of feed ${DOLLAR_AGGREGATOR}: ${USDC} at 0.9999 US dollars`,
      `Round 4242 of feed ${ETHER_AGGREGATOR}: ${WETH} at 2000.12345678 US dollars`,
      ...pools.map(
        (pool) =>
          `Pool ${pool.pair_address} of these tokens belongs to ${pool.exchange_name}: its address follows from them`,
      ),
      'The price follows from the states, anchors and rules',
    ]);
    expect(verified.unproven).toEqual([
      { fact: `Balances of pool ${POOL.address}`, reason: 'contract-call' },
      { fact: `Decimals of ${CATS}`, reason: 'contract-call' },
      ...pools.map((pool) => ({ fact: `Age of pool ${pool.pair_address}`, reason: 'absence' })),
      { fact: 'No later log of these pools and feeds until the block', reason: 'absence' },
      { fact: 'No other pools that count', reason: 'absence' },
    ]);
    expect(price.proof?.unproven).toEqual(verified.unproven);
  });

  test('needs no trust in the file if all hashes are given', () => {
    const blockHashes = new Set([hashOf(5), hashOf(10)]);
    const verified = verifyPrice(fileOf(), chains, { blockHash: hashOf(HEAD), blockHashes });
    expect(verified.blocksToCheck).toEqual([]);
    expect(() =>
      verifyPrice(fileOf(), chains, { blockHash: hashOf(HEAD), blockHashes: new Set([hashOf(5)]) }),
    ).toThrow(`block 10 has the hash ${hashOf(10)}, which is not trusted and not linked`);
    expect(() => verifyPrice(fileOf(), chains, { blockHash: hashOf(5), blockHashes: null })).toThrow(
      `The price proof is invalid: proof.block_hash is ${hashOf(HEAD)}, but the trusted hash is ${hashOf(5)}`,
    );
  });

  test('begins later if nodes lack the receipts of a block, and says so', async () => {
    const partial = await stage.prove(async (question) => {
      const evidence = await stage.read(question);
      const without = { reason: 'no-proof-from-node', header: '0x', receipts: [], logs: [] } as const;
      return {
        ...evidence,
        blocks: evidence.blocks.map((one) => (one.hash === hashOf(380) ? { ...one, ...without } : one)),
      };
    });
    const verified = verifyPrice(fileOf(partial), chains, NO_TRUST);
    expect(verified.usd).toBe(price.usdPriceFormatted);
    expect(verified.unproven).toContainEqual({
      ...{ fact: `States of pool ${PAIR.address} until block 380`, reason: 'no-proof-from-node' },
    });
    expect(verified.blocksToCheck.map(({ number }) => number)).toEqual([10, HEAD]);
  });

  test('holds for an anchor, whose price is that of its feed', async () => {
    const verified = verifyPrice(fileOf(await stage.prove(stage.read, USDC)), chains, NO_TRUST);
    expect(verified).toMatchObject({
      ...{ token: USDC, usd: '0.9999', numerator: '99990000', denominator: '100000000' },
      proven: [
        'Block 400: number, time and receipts root follow from its hash',
        `Round 77 of feed ${DOLLAR_AGGREGATOR}: ${USDC} at 0.9999 US dollars`,
        'The price follows from the states, anchors and rules',
      ],
      unproven: [{ fact: 'No later log of these pools and feeds until the block', reason: 'absence' }],
    });
    expect(verified.blocksToCheck.map(({ number }) => number)).toEqual([10, HEAD]);
  });

  test('begins after a reading by contract calls', async () => {
    const { database } = scratch;
    const removed = await database.query(
      sql`DELETE FROM pool_states WHERE pool = ${hexBytes(PAIR.address)} AND block_number < 380 RETURNING block_number`,
    );
    await database.query(
      sql`INSERT INTO pool_readings (pool_key, chain_id, block_number, stood_since, pool, reserve0, reserve1)
       VALUES (address_key(${hexBytes(PAIR.address)}), ${eth.id}, 360, 1700000000, ${hexBytes(PAIR.address)}, 300000000000, 240000000000)`,
    );
    try {
      const verified = verifyPrice(fileOf(await stage.prove(stage.read)), chains, NO_TRUST);
      expect(verified.usd).toBe(price.usdPriceFormatted);
      expect(verified.unproven).toContainEqual({
        ...{ fact: `States of pool ${PAIR.address} until block 360`, reason: 'contract-call' },
      });
    } finally {
      await database.query(sql`DELETE FROM pool_readings`);
      await database.query(
        sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
         VALUES (address_key(${hexBytes(PAIR.address)}), ${eth.id}, 5, 1, 1, ${hexBytes(PAIR.address)}, 300000000000, 240000000000)`,
      );
    }
    expect(removed).toHaveLength(1);
  });

  test('is refused while evidence is missing', async () => {
    await expect(stage.prove(async () => null)).rejects.toThrow(
      'The proof of block 400 is being read: try again',
    );
    const path = `/api/v2.2/erc20/${CATS}/price?to_block=${HEAD}&proof=true`;
    const response = await api.request(path, { headers: { 'x-api-key': EXAMPLE_KEY } });
    expect([response.status, await response.json()]).toEqual([
      503,
      { message: 'The proof of block 400 is being read: try again' },
    ]);
  });
});

describe('a changed proof', () => {
  test('is rejected with one other digit anywhere, for 50 seeds', () => {
    expect(acceptedWithOtherDigit(price)).toEqual([]);
  });

  // Invariant: PRICE-PROOF-ALONE
  test('is rejected with one other digit of its evidence and a new digest, for 50 seeds', () => {
    expect(acceptedWithOtherEvidence(price)).toEqual([]);
  });

  const pair = (document: File): File =>
    document.explanation.candidates.find((one: File) => one.pair_address === PAIR.address);
  const pool = (document: File): File =>
    document.explanation.candidates.find((one: File) => one.pair_address === POOL.address);
  const anchor = (document: File, token: string): File =>
    document.explanation.anchors.find((one: File) => one.token_address === token);
  const evidence = (document: File, address: string): File =>
    document.proof.pools.find((one: File) => one.pair_address === address);

  test.each<readonly [name: string, change: (document: File) => void, message: string]>([
    [
      'a reserve',
      (one) => (pair(one).states[1].reserve0 = '1'),
      '.states[1].reserve0 is 1, but the logs prove 310000000000',
    ],
    [
      'a root',
      (one) => (pool(one).states[0].sqrt_price_x96 = '7'),
      '.states[0].sqrt_price_x96 is 7, but the logs prove 1584563',
    ],
    [
      'a liquidity',
      (one) => (pool(one).states[1].liquidity = '8'),
      '.states[1].liquidity is 8, but the logs prove 5100000000000000',
    ],
    [
      'a time',
      (one) => (pair(one).states[2].time -= 1),
      '.states[2].time is 1700023699, but that of block 395 is 1700023700',
    ],
    [
      'a left out state',
      (one) => pair(one).states.splice(1, 1),
      'has a change in block 380, which is not among the explained states',
    ],
    [
      'an added state',
      (one) => pair(one).states.splice(1, 0, { ...pair(one).states[1], block: '379' }),
      '.states[1].reserve0 is 310000000000, but the logs prove 300000000000',
    ],
    [
      'a left out log',
      (one) => evidence(one, PAIR.address).logs.pop(),
      '.states[2].reserve0 is 305000000000, but the logs prove 310000000000',
    ],
    [
      'a left out change of liquidity',
      (one) => evidence(one, POOL.address).logs.splice(1, 1),
      '.states[1].liquidity is 5100000000000000, but the logs prove 5000000000000000',
    ],
    ['a log of another contract', (one) => (evidence(one, PAIR.address).logs[2].log = 1), 'which does not exist'],
    [
      'a log of another pool',
      (one) => (evidence(one, PAIR.address).logs[2] = evidence(one, POOL.address).logs[2]),
      `is not an event of pool ${PAIR.address}`,
    ],
    [
      'logs in another order',
      (one) => evidence(one, POOL.address).logs.reverse(),
      'is not later than the log before it',
    ],
    [
      'a receipt of another block',
      (one) => (one.proof.receipts[3].block_hash = hashOf(HEAD)),
      'does not lead to the receipts root of block 400',
    ],
    [
      'another place of a receipt',
      (one) => (one.proof.receipts[0].index = 0),
      'does not lead to the receipts root of block 5',
    ],
    [
      'a left out header',
      (one) => one.proof.headers.splice(0, 1),
      `is of block ${hashOf(5)}, whose header is missing`,
    ],
    [
      'a header without use',
      (one) => one.proof.headers.splice(4, 1),
      'which is neither linked nor has a receipt',
    ],
    [
      'another last header',
      (one) => one.proof.headers.pop(),
      `does not end with the header that hashes to ${hashOf(HEAD)}`,
    ],
    [
      'a price of a feed',
      (one) => (anchor(one, USDC).price_numerator = '99990001'),
      '.price_numerator is 99990001, but the log proves 99990000',
    ],
    ['a round', (one) => (anchor(one, WETH).round = '4243'), '.round is 4243, but the log proves 4242'],
    [
      'an aggregator',
      (one) => (anchor(one, WETH).aggregator = CATS),
      `.aggregator is ${CATS}, but the log proves ${ETHER_AGGREGATOR}`,
    ],
    [
      'an old value',
      (one) => (one.proof.feeds[0].heartbeat_seconds = 60),
      'was updated more than 60 seconds before the block of the price',
    ],
    ['a source', (one) => (anchor(one, USDC).source = 'assumed'), 'proof.feeds has 2 feeds, but 1 decide'],
    ['a role', (one) => (pair(one).role = 'too-shallow'), 'proof.pools has 2 pools, but 1 count'],
    [
      'another exchange',
      (one) => (pair(one).exchange_name = 'SushiSwap'),
      `differs from the facts of the address ${PAIR.address}`,
    ],
    ['decimals', (one) => (pair(one).sides[1].decimals = 7), `has 7 decimals of ${USDC}, which has 6`],
    ['decimals that contradict', (one) => (pair(one).sides[0].decimals = 7), `decimals of ${CATS}, and `],
    [
      'a balance',
      (one) => (pair(one).states[0].balance1 = '1'),
      '.states[0] has balances that differ from its reserves',
    ],
    ['an age', (one) => (pair(one).created_time += 900), 'is 1700001200, but the states begin at 1700000300'],
    ['the fraction', (one) => (one.explanation.price_numerator += '0'), 'explanation.price_numerator is '],
    [
      'the cost of a move',
      (one) => (one.explanation.move_cost_usd = '1.00'),
      'explanation.move_cost_usd is 1.00, but ',
    ],
    ['the rule', (one) => (one.explanation.rule = 'median'), 'explanation.rule is median, but spot follows'],
    [
      'a depth rule',
      (one) => (one.explanation.rules.min_side_usd = 1e9),
      'explanation.rules.min_side_usd is 1000000000, but this program verifies prices by 500',
    ],
    [
      'a token that is no dollar',
      (one) => (one.explanation.anchors[0].source = 'assumed'),
      'proof.feeds has 2 feeds, but 1 decide',
    ],
    [
      'the time',
      (one) => (one.explanation.time += 1),
      'explanation.time is 1700024001, but that of the block is 1700024000',
    ],
    [
      'the block',
      (one) => (one.explanation.block = '399'),
      'explanation.block is 399, but the header is of block 400',
    ],
    ['the token', (one) => (one.tokenAddress = USDC), 'do not contain an anchor with a price'],
    ['the shown price', (one) => (one.usdPrice += 1), 'usdPrice is '],
    [
      'a balance of no pool',
      (one) =>
        one.proof.balances.push({
          pair_address: PAIR.address,
          token_address: CATS,
          layout: 'solidity',
          slot: '0',
          proof: NO_ACCOUNT,
        }),
      'proof.balances[0] is not a balance of a concentrated pool that counts',
    ],
    [
      'a balance without nodes',
      (one) =>
        one.proof.balances.push({
          pair_address: POOL.address,
          token_address: CATS,
          layout: 'solidity',
          slot: '0',
          proof: NO_ACCOUNT,
        }),
      'proof.balances[0] does not lead to the state root of block 400 (too-short)',
    ],
    ['the shown pool', (one) => (one.pairAddress = CATS), `pairAddress is ${CATS}, but the explanation has `],
  ])('is rejected with a new digest and %s', (_, change, message) => {
    const document = fileOf();
    change(document);
    const found = rejection(() => verifyPrice(sealed(document), chains, NO_TRUST));
    expect(found).toMatch(/^The price proof is invalid: /);
    expect(found).toContain(message);
  });

  test('is rejected with other rules, and without a digest', () => {
    const document = fileOf();
    document.explanation.rules.hold_seconds = 601;
    expect(() => verifyPrice(sealed(document), chains, NO_TRUST)).toThrow(
      'explanation.rules.hold_seconds is 601, but this program verifies prices by 600',
    );
    document.explanation.rules.hold_seconds = 600;
    document.tokenName = 'Dogs';
    expect(() => verifyPrice(document, chains, NO_TRUST)).toThrow(
      'The price proof is invalid: proof.digest is not that of the document: a member was changed that no proof covers',
    );
  });

  test.each<readonly [name: string, document: unknown, message: string]>([
    ['a list', [], 'the document is not a price response with a proof: request it with proof=true'],
    ['null', null, 'the document is not a price response with a proof: request it with proof=true'],
    [
      'a price without a proof',
      { usdPrice: 1 },
      'the document is not a price response with a proof: request it with proof=true',
    ],
    [
      'a refused request',
      { message: 'The proof of block 7 is being read: try again' },
      'the document is not a price response with a proof, but the error "The proof of block 7 is being read: try again"',
    ],
    [
      'another format',
      { proof: { format: 'x', version: 1 } },
      'the document is not a price response with a proof: request it with proof=true',
    ],
    [
      'another version',
      { proof: { format: 'chainstead-price-proof', version: 2 } },
      'proof.version is 2, but this program reads 1',
    ],
    [
      'no explanation',
      { proof: { format: 'chainstead-price-proof', version: 1 } },
      'tokenAddress is malformed: ',
    ],
  ])('%s is refused', (_, document, message) => {
    expect(() => verifyPrice(document, chains, NO_TRUST)).toThrow(`The price proof is invalid: ${message}`);
  });
});

const NO_ACCOUNT = {
  ...{ address: CATS, balance: '0x0', nonce: '0x0', codeHash: '0x', storageHash: '0x' },
  ...{ accountProof: [], storageProof: [] },
};
