/** Values that are requested at random moments, while blocks are followed and backfilled in random order: not known yet, or the final one. */
import { feedsOf } from '@chainstead/chains/price-feeds';
import { type Address, parseHash } from '@chainstead/core';
import { hexBytes, runStatements, sql } from '@chainstead/db';
import { addressOf, atDepth, coverBlocks, createSeededRandom, exampleChain, hashOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readingsOfBlocks } from '../feeds/feed-answers.ts';
import { readFeedSteps, readFeedValues } from '../feeds/feed-steps.ts';
import { seedPriceSources } from '../feeds/price-sources.ts';
import { seedAnswers } from '../testing/seeded-prices.ts';
import { type BlockIdentity, type FeedReading, type FeedStart, readFeedStarts } from './read-feeds.ts';
import { storeReadings } from './read-starts.ts';

const [DOLLAR, GOLD, NOWHERE] = [addressOf(0xd), addressOf(0x6), addressOf(0x404)];
const [FIRST, SECOND, THIRD] = [addressOf(1), addressOf(2), addressOf(3)];
const feed = (proxy: Address, token: number, aggregators: readonly Address[], heartbeatSeconds: number) => ({
  ...{ proxy, decimals: 8, aggregators, heartbeatSeconds, tokens: [addressOf(token)] },
});
const chain = exampleChain({
  tokenFeeds: [
    feed(DOLLAR, 21, [FIRST, SECOND], 4_000),
    feed(GOLD, 22, [THIRD], 1_200),
    feed(NOWHERE, 23, [], 90_000),
  ],
});
const HEAD = 300;
const START = 200;
/** Blocks checked after each indexed part: 20 where the tier looks at all. */
const CHECKS = Math.min(20, atDepth(40));
const timeOf = (block: number): number => 1_700_000_000 + block * 12;
const blockOf = (number: number): BlockIdentity => ({ number, hash: parseHash(hashOf(7, number)) });

/** Values of the aggregators by block, the oldest from before the first block. The second one takes over from the first. */
interface Truth {
  readonly block: number;
  readonly aggregator: Address;
  readonly answer: bigint;
}

const random = createSeededRandom(42);
const truths: ReadonlyMap<Address, readonly Truth[]> = new Map([
  [DOLLAR, answers(40, (block) => (block < 170 ? FIRST : SECOND))],
  [GOLD, answers(25, () => THIRD)],
  [NOWHERE, []],
]);

function answers(gap: number, aggregatorAt: (block: number) => Address): readonly Truth[] {
  const found: Truth[] = [];
  for (let block = -random.integer(1, gap); block <= HEAD; block += random.integer(1, 2 * gap)) {
    const answer = random.integer(1, 10) === 1 ? 0n : BigInt(random.integer(90_000_000, 110_000_000));
    found.push({ block, aggregator: aggregatorAt(block), answer });
  }
  return found;
}

const lastOf = (proxy: Address, block: number) => truths.get(proxy)?.findLast((one) => one.block <= block);

/** The final figure in units of the feed, by the answers alone. */
function finalAt(proxy: Address, block: number): bigint | 'absent' | null {
  if (proxy === NOWHERE) return 'absent';
  const last = lastOf(proxy, block);
  const heartbeat = feedsOf(chain).find((one) => one.proxy === proxy)?.heartbeatSeconds ?? 0;
  if (last === undefined || last.answer === 0n || timeOf(block) - timeOf(last.block) > heartbeat) return null;
  return last.answer;
}

function readingAt(proxy: Address, block: number): FeedReading {
  const last = lastOf(proxy, block);
  if (last === undefined) return { status: 'absent' };
  const { aggregator, answer } = last;
  const updatedAt = BigInt(timeOf(last.block));
  return { status: 'answer', answer: { aggregator, answer, round: 1n, decimals: 8, updatedAt } };
}

const scratch = scratchOfFile();

const seededAnswer = ({ aggregator, block, answer }: Truth) => ({
  ...{ aggregator, blockNumber: block, answer: String(answer), time: timeOf(block) },
});

async function index(first: number, last: number): Promise<void> {
  const { database } = scratch;
  await coverBlocks(database, chain.id, 'feed-answers', first, last);
  const isIndexed = ({ block }: Truth) => first <= block && block <= last;
  await seedAnswers(
    database,
    chain,
    [...truths.values()].flat().flatMap((one) => (isIndexed(one) ? [seededAnswer(one)] : [])),
  );
}

/** Reads some of the feeds whose run begins without a value: at its first block, or at a later one, as without an archive node. */
async function readStarts(): Promise<void> {
  const starts = await readFeedStarts(scratch.database, chain, (runs) => runs);
  for (const { feed: one, first, valueFrom, run } of starts) {
    if (first === null || (valueFrom !== null && valueFrom <= first.number) || random.integer(1, 3) === 1)
      continue;
    const block = blockOf(random.integer(1, 2) === 1 ? first.number : random.integer(...rangeOf(run)));
    await storeReadings(scratch.database, chain, block, [[one, readingAt(one.proxy, block.number)]]);
  }
}

/** Reads all feeds at a block that may not be indexed, as for an old swap of a wallet. */
async function readAlone(number: number): Promise<void> {
  const readings = feedsOf(chain).map((one) => [one, readingAt(one.proxy, number)] as const);
  await storeReadings(scratch.database, chain, blockOf(number), readings);
}

const rangeOf = ([first, last]: FeedStart['run']): [number, number] => [first, last];

test('values at random blocks and moments are pending or final, and all are final in the end', async () => {
  const { database } = scratch;
  const blocks = Array.from({ length: HEAD + 1 }, (_, block) => block);
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${chain.id}, number, hash, to_timestamp(time) FROM unnest(${blocks}::bigint[], ${blocks.map((block) => hexBytes(blockOf(block).hash))}::bytea[], ${blocks.map(timeOf)}::float8[]) AS block(number, hash, time)`,
  );
  await seedPriceSources(database, chain);
  const seen = { pending: 0, final: 0, alone: 0 };
  const check = async (block: number): Promise<void> => {
    const at = { block, time: timeOf(block) };
    const found = await readFeedValues(database, chain, at);
    const stepsOf = await readFeedSteps(database, chain, feedsOf(chain), [block]);
    for (const one of feedsOf(chain)) {
      const state = found.get(one.proxy);
      const steps = stepsOf.get(one.proxy)?.at(block, at.time);
      const value =
        state?.of === 'value' ? state.value.usd.numerator : state?.of === 'unknown' ? null : state?.of;
      expect(typeof steps === 'object' ? (steps?.numerator ?? null) : steps).toBe(value);
      seen[value === 'pending' ? 'pending' : 'final'] += 1;
      if (value !== 'pending') expect(value, `${one.proxy} at ${block}`).toBe(finalAt(one.proxy, block));
    }
  };
  // The chain is followed from one block on; older blocks come in parts, in random order.
  const parts = Array.from({ length: START / 20 }, (_, part) => [part * 20, part * 20 + 19] as const)
    .map((part) => ({ part, order: random.next() }))
    .toSorted((one, other) => one.order - other.order);
  const steps = Array.from({ length: (HEAD - START) / 10 }, (_, step) => START + step * 10);
  for (let round = 0; round < parts.length; round++) {
    const from = steps[round];
    if (from !== undefined) await index(from, Math.min(from + 9, HEAD));
    for (let count = 0; count < 5; count++) await check(random.integer(0, HEAD));
    await readStarts();
    for (let count = 0; count < 5; count++) await check(random.integer(0, HEAD));
    const alone = random.integer(0, HEAD);
    await readAlone(alone);
    await check(alone);
    seen.alone +=
      (await readFeedValues(database, chain, { block: alone, time: timeOf(alone) })).get(DOLLAR)?.of !== 'pending'
        ? 1
        : 0;
    const part = parts[round]?.part;
    if (part !== undefined) await index(...part);
    for (let count = 0; count < CHECKS; count++) await check(random.integer(0, HEAD));
  }
  // A block that is read has its values at once.
  expect(seen.alone).toBe(parts.length);
  await index(HEAD, HEAD);
  // The first block of all has a reading: what happened before it is not indexed.
  const starts = await readFeedStarts(database, chain, (runs) => runs.slice(0, 1));
  for (const { feed: one } of starts)
    await storeReadings(database, chain, blockOf(0), [[one, readingAt(one.proxy, 0)]]);
  seen.pending = 0;
  for (let block = 0; block <= HEAD; block += 4) await check(block);
  expect(seen.pending).toBe(0);
});

test('a reading of another block than the stored one, or behind a value, is not stored, and a reorg deletes the others', async () => {
  const { database } = scratch;
  await database.query(sql`TRUNCATE feed_readings, feed_answers, sync_ranges`);
  await index(250, HEAD);
  const [dollar, gold] = feedsOf(chain);
  if (dollar === undefined || gold === undefined) throw new RangeError('The chain has feeds');
  const store = (block: BlockIdentity, proxy = dollar) =>
    storeReadings(database, chain, block, [[proxy, { status: 'silent' }]]);
  expect(await store({ number: 250, hash: parseHash(hashOf(8, 250)) })).toEqual([]);
  expect(await store(blockOf(HEAD))).toEqual([]);
  expect(await store(blockOf(250))).toEqual([dollar]);
  expect(await store(blockOf(251))).toEqual([]);
  const stored = () =>
    database.query<{ block: number }>(sql`SELECT block_number AS block FROM feed_readings ORDER BY block_number`);
  expect(await stored()).toEqual([{ block: 250 }]);
  const rollBack = (ancestor: number) =>
    database.transaction((transaction) =>
      runStatements(transaction, readingsOfBlocks.rolledBack?.(chain.id, ancestor) ?? []),
    );
  await rollBack(250);
  expect(await stored()).toEqual([{ block: 250 }]);
  await rollBack(249);
  expect(await stored()).toEqual([]);
  await store(blockOf(250));
  await database.transaction((transaction) =>
    runStatements(transaction, readingsOfBlocks.dropped?.(chain.id, { from: 240, to: 250 }) ?? []),
  );
  expect(await stored()).toEqual([]);
});
