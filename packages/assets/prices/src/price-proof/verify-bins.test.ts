/** The proof of a price from a Liquidity Book pair over hand-made blocks with real hashes and roots: logs prove its active bins. */
import { createChainRegistry } from '@chainstead/chains';
import { type Hash, parseAddress, parseHash, silentLogger, systemClock } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import {
  addressOf,
  coverBlocks,
  createPartitions,
  examplePool,
  serveChain,
  storeToken,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { ANSWER_UPDATED } from '@chainstead/tokens/price-feeds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ShownTokenPrice } from '../token-price/serve/price-response.ts';
import { deposited, MIDDLE, seedBinPair, storeBinBlock, swapped } from '../token-price/testing/bin-pair.ts';
import { priceEvidenceReader } from './evidence-kind.ts';
import { documentDigest, PriceProofError } from './proof-error.ts';
import { readExplainedPrice } from './prove-price.ts';
import { type LogsByBlock, sealChain } from './testing/sealed-chain.ts';
import { verifyPrice } from './verify-price.ts';

const chains = createChainRegistry();
const eth = chains.get('eth');
const CATS = addressOf(0x11);
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const PAIR = addressOf(0x1b1);
const HEAD = 60;
const timeOf = (block: number): number => 1_700_000_000 + block * 60;
const AGGREGATOR = parseAddress(eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.aggregators[0]);
const word = (value: number): string => value.toString(16).padStart(64, '0');
const topic = (value: number): Hash => parseHash(`0x${word(value)}`);

const near = [
  [MIDDLE, 10n ** 9n, 10n ** 9n],
  [MIDDLE + 1, 10n ** 9n, 0n],
] as const;
/** Blocks with logs of the pair, each in one transaction. */
const PAIR_LOGS = {
  5: [deposited(PAIR, near), swapped(PAIR, [MIDDLE, 5n, -5n])],
  40: [deposited(PAIR, near)],
  50: [swapped(PAIR, [MIDDLE, -(10n ** 9n), 10n ** 9n]), swapped(PAIR, [MIDDLE + 1, -1n, 2n])],
};
const LOGS: LogsByBlock = {
  ...Object.fromEntries(Object.entries(PAIR_LOGS).map(([block, logs]) => [block, [logs]])),
  10: [
    [
      {
        ...{ address: AGGREGATOR, topics: [ANSWER_UPDATED.topic, topic(100_000_000), topic(7)] },
        data: `0x${word(timeOf(10))}`,
      },
    ],
  ],
};

const scratch = scratchOfFile();
const parts = new AsyncDisposableStack();
let price: ShownTokenPrice;

beforeAll(async () => {
  const { database } = scratch;
  const source = sealChain(eth.id, HEAD, timeOf, LOGS);
  for (let block = 0; block <= HEAD; block++)
    await database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${eth.id}, ${block}, ${hexBytes(source.blockAt(block)?.hash ?? '0x')}, to_timestamp(${timeOf(block)}))`,
    );
  for (const dataset of ['pool-states', 'feed-answers', 'bin-changes'])
    await coverBlocks(database, eth.id, dataset, 0, HEAD);
  for (const table of ['pool_states', 'bin_changes']) await createPartitions(database, table, eth.id);
  for (const token of [CATS, USDC])
    await storeToken(database, eth.id, token, { name: 'Token', symbol: 'T', decimals: 6, facts_status: 'known' });
  await database.query(
    sql`INSERT INTO feed_answers (aggregator, chain_id, block_number, transaction_index, log_index, round, answer, updated_at)
     VALUES (${hexBytes(AGGREGATOR)}, ${eth.id}, 10, 0, 0, 7, 100000000, to_timestamp(${timeOf(10)}))`,
  );
  await seedBinPair(database, eth, { pool: PAIR, tokens: [CATS, USDC], createdAt: 2 });
  for (const [block, logs] of Object.entries(PAIR_LOGS)) await storeBinBlock(database, eth, Number(block), logs);
  const node = parts.adopt(await serveChain(source), (one) => one.close());
  const pool = parts.adopt(await examplePool(eth, node.url), (one) => one.close());
  const context = { chain: eth, pool, database, logger: silentLogger(), clock: systemClock };
  price = await readExplainedPrice(database, eth, { token: CATS, exchange: null, toBlock: HEAD }, (question) =>
    priceEvidenceReader.read(context, question, AbortSignal.timeout(20_000)),
  );
});
afterAll(() => parts.disposeAsync());

type File = ReturnType<typeof JSON.parse>;
const fileOf = (): File => JSON.parse(JSON.stringify(price));
const verified = (file: File) => verifyPrice(file, chains, { blockHash: null, blockHashes: null });

test('logs prove the active bins, and the tokens in bins follow from all events', () => {
  const { usd, proven, unproven } = verified(fileOf());
  expect(usd).toBe('1.01');
  expect(price.explanation?.candidates[0]?.states.map(({ block, active_bin: bin }) => [block, bin])).toEqual([
    ['5', MIDDLE],
    ['40', MIDDLE],
    ['50', MIDDLE + 1],
  ]);
  expect(proven).toContain('2 pool states from logs in 3 receipts');
  expect(unproven).toContainEqual({ fact: `Balances of pool ${PAIR}`, reason: 'all-events' });
  expect(unproven.some(({ reason }) => reason === 'no-address-rule')).toBe(true);
});

test.each<[string, object, object, RegExp]>([
  ['another active bin', {}, { active_bin: MIDDLE + 2 }, /active_bin is \d+, but the logs prove 8388609/],
  ['another step', { bin_step: 99 }, {}, /follows from the states/],
  ['a step of nothing', { bin_step: -10_000 }, {}, /bin_step/],
  ['half a bin', {}, { active_bin: 0.5 }, /active_bin/],
  ['no step', { bin_step: null }, {}, /has no pool that decides a price/],
  ['more tokens', {}, { balance1: '9'.repeat(12) }, /follows from the states/],
])('%s is refused, also with a new digest', (_, ofPair, ofState, message) => {
  const file = fileOf();
  const [candidate] = file.explanation.candidates;
  Object.assign(candidate, ofPair);
  Object.assign(candidate.states.at(-1), ofState);
  file.proof.digest = documentDigest(file);
  expect(() => verified(file)).toThrow(PriceProofError);
  expect(() => verified(file)).toThrow(message);
});
