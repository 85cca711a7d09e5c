/** Tokens in bins at each block against a model of the pair, under any order of arrival and after reorgs. */

import { createChainRegistry } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, createSeededRandom, seedBuilt } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, expect, test } from 'vitest';
import { rollBackRows, storeRows } from '../testing/stored-rows.ts';
import { binReservesOfChanges } from './bin-reserves-projection.ts';
import { binChanges } from './dataset.ts';
import {
  binsWithinTenth,
  createBinBook,
  firstUnsummedBinBlock,
  readBinChanges,
  readBinReserves,
} from './read-bin-reserves.ts';
import type { BinChangeRow } from './schema.ts';
import { createPairModel, type PairModel, type PairState } from './testing/pair-model.ts';

const chain = createChainRegistry().get('avalanche');
const [PAIR, OTHER, FACTORY] = [addressOf(0xb1), addressOf(0xb2), addressOf(0xfa)];
const RANGE = { pool: PAIR, factory: FACTORY, lowest: 0, highest: 2 ** 24 };
const BIN_STEP = 100;

const scratch = scratchOfFile();

beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE bin_changes, bin_reserves, blocks, projections`);
  await seedBuilt(scratch.database, chain.id, binReservesOfChanges);
});

interface ModelBlock {
  readonly number: number;
  readonly rows: readonly BinChangeRow[];
  /** At the end of the block. */
  readonly state: PairState;
}

type Random = ReturnType<typeof createSeededRandom>;

/** Blocks with some actions each, in every distance that matters to the spans. */
function mine(
  model: PairModel,
  other: PairModel,
  random: Random,
  first: number,
  count: number,
): readonly ModelBlock[] {
  let number = first;
  return Array.from({ length: count }, () => {
    number += random.pick([1, 1, 2, 300, 1_024, 9_000, 65_536, 700_000]);
    const actions = Array.from({ length: random.integer(0, 4) }, () => model.act(random));
    const others = Array.from({ length: random.integer(0, 1) }, () => other.act(random));
    const logs = [...actions, ...others].flat().map((log) => ({ ...log, blockNumber: number }) as Log);
    return { number, rows: binChanges.decode(logs, { chain, timestampOf: () => number }), state: model.state() };
  });
}

async function store(blocks: readonly ModelBlock[], random: Random): Promise<void> {
  const { database } = scratch;
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${chain.id}, number, sha256(number::text::bytea), to_timestamp(number) FROM unnest(${blocks.map(({ number }) => number)}::int[]) AS number ON CONFLICT DO NOTHING`,
  );
  const shuffled = blocks
    .map((block) => ({ block, at: random.integer(0, 1_000) }))
    .toSorted((a, b) => a.at - b.at);
  for (let start = 0; start < shuffled.length; start += 10) {
    const rows = shuffled.slice(start, start + 10).flatMap(({ block }) => block.rows);
    await storeRows(database, chain, binChanges, rows);
  }
}

/** The tokens at the end of a block, by bin, from sums and later changes. */
async function readBins(block: number) {
  const sums = await readBinReserves(scratch.database, chain, [RANGE], block + 1);
  const span = { first: firstUnsummedBinBlock(block + 1), last: block };
  const changes = await readBinChanges(scratch.database, chain, [RANGE], span);
  const all = [...(sums?.[0]?.bins ?? []), ...(changes[0] ?? [])];
  const bins = new Map<number, readonly [bigint, bigint]>();
  for (const { bin, amount0, amount1 } of all) {
    const [x, y] = bins.get(bin) ?? [0n, 0n];
    bins.set(bin, [x + amount0, y + amount1]);
  }
  const book = createBinBook(all.map(({ bin }) => bin));
  for (const one of all) book.change(one);
  return { bins: held([...bins].map(([bin, [x, y]]) => [bin, x, y])), book };
}

type Held = readonly [bin: number, x: bigint, y: bigint];

function held(bins: readonly Held[]): readonly Held[] {
  return bins.filter(([, x, y]) => x !== 0n || y !== 0n).toSorted(([one], [other]) => one - other);
}

function heldBy({ bins }: PairState): readonly Held[] {
  return held([...bins].map(([bin, { x, y }]) => [bin, x, y]));
}

/** Tokens in the bins whose price is within a factor of 1.1, by the price itself. */
function nearOf(state: PairState): readonly [bigint, bigint] {
  const isNear = (bin: number): boolean => {
    const power = BigInt(Math.abs(bin - state.active));
    return 10n * (10_000n + BigInt(BIN_STEP)) ** power <= 11n * 10_000n ** power;
  };
  let [x, y] = [0n, 0n];
  for (const [bin, own] of state.bins) {
    if (!isNear(bin)) continue;
    if (bin >= state.active) x += own.x;
    if (bin <= state.active) y += own.y;
  }
  return [x, y];
}

async function expectBlocks(blocks: readonly ModelBlock[]): Promise<void> {
  for (const { number, state } of blocks) {
    const { bins, book } = await readBins(number);
    expect(bins, `at block ${number}`).toEqual(heldBy(state));
    expect(book.near(state.active, binsWithinTenth(BIN_STEP))).toEqual(nearOf(state));
  }
}

test.each([
  ['2.0', 'one'],
  ['2.0', 'two'],
  ['2.1', 'three'],
  ['2.1', 'four'],
] as const)('bins of version %s are those of the model, seed %s', async (version, seed) => {
  const random = createSeededRandom(`bins ${seed}`);
  const model = createPairModel(PAIR, version, BigInt(BIN_STEP));
  const other = createPairModel(OTHER, version === '2.0' ? '2.1' : '2.0', 25n);
  const first = mine(model, other, random, 1, 60);
  await store(first, random);
  await expectBlocks(first);
  // Both sides of the active bin were taken from.
  expect(new Set(first.map(({ state }) => state.active)).size).toBeGreaterThan(5);
  const ancestor = first[35];
  if (ancestor === undefined) throw new RangeError('The chain has 60 blocks');
  await rollBackRows(scratch.database, chain, binChanges, ancestor.number);
  model.restore(ancestor.state);
  const branch = mine(model, other, random, ancestor.number, 20);
  await store(branch, random);
  await expectBlocks([...first.slice(0, 36), ...branch]);
});

test('the number of near bins is the largest whose price is within a factor of 1.1', () => {
  for (const binStep of [1, 2, 5, 10, 15, 20, 25, 50, 80, 100, 200, 999, 1_000, 1_001]) {
    const bins = BigInt(binsWithinTenth(binStep));
    const isNear = (power: bigint) => 10n * (10_000n + BigInt(binStep)) ** power <= 11n * 10_000n ** power;
    expect([isNear(bins), isNear(bins + 1n)], `with a step of ${binStep}`).toEqual([true, false]);
  }
  expect([0, -1, 0.5, Number.NaN].map(binsWithinTenth)).toEqual([0, 0, 0, 0]);
});

test('a change of another bin is an error, and missing tokens are none', () => {
  const book = createBinBook([7, 5]);
  expect(() => book.change({ bin: 6, amount0: 1n, amount1: 0n })).toThrow(RangeError);
  book.change({ bin: 5, amount0: -1n, amount1: 3n });
  expect(book.near(5, 1)).toEqual([0n, 3n]);
  expect(book.near(6, 0)).toEqual([0n, 0n]);
  expect(book.near(6, 1)).toEqual([0n, 3n]);
  expect(createBinBook([]).near(5, 3)).toEqual([0n, 0n]);
});

test('the dataset is indexed on chains with an exchange of that kind', () => {
  const registry = createChainRegistry();
  expect(
    ['avalanche', 'arbitrum', 'bsc', 'eth'].map((name) => binChanges.topics(registry.get(name)).length),
  ).toEqual([7, 7, 7, 7]);
  expect(binChanges.topics(registry.get('polygon'))).toEqual([]);
});
