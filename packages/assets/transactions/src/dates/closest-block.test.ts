import { hashOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  CLOSEST,
  type Closest,
  closestBlock,
  type Neighbours,
  searchTimes,
  type TimedBlock,
} from './search-times.ts';

/** A chain whose blocks have these times. */
function chainOf(times: readonly number[], first = 0): TimedBlock[] {
  return times.map((timestamp, at) => ({
    number: first + at,
    hash: hashOf(1, at),
    parentHash: at === 0 ? null : hashOf(1, at - 1),
    timestamp,
  }));
}

/** Searches every block. */
function expected(blocks: readonly TimedBlock[], time: number, closest: Closest): TimedBlock | undefined {
  const before = blocks.findLast(({ timestamp }) => timestamp <= time);
  const after = blocks.find(({ timestamp }) => timestamp >= time);
  if (after === undefined) return blocks.at(-1);
  if (before === undefined || closest === 'after') return after;
  if (closest === 'before') return before;
  const isNearer = after.timestamp - time < time - before.timestamp;
  return isNearer ? after : blocks.find(({ timestamp }) => timestamp === before.timestamp);
}

/** A node that counts its calls. */
function nodeOf(blocks: readonly TimedBlock[]) {
  const first = blocks[0] as TimedBlock;
  const head = blocks.at(-1) as TimedBlock;
  const node = {
    requested: 0,
    rounds: 0,
    neighbours: (time: number, known: readonly TimedBlock[] = []): Promise<Neighbours> =>
      searchTimes(time, {
        ...{ chain: 'test', first, head, known },
        read: async (numbers) => {
          node.rounds += 1;
          node.requested += numbers.length;
          return numbers.flatMap((number) => blocks[number - first.number] ?? []);
        },
      }),
  };
  return node;
}

/** Times that never decrease. */
const CHAIN = fc
  .array(fc.integer({ min: 100, max: 600 }), { minLength: 1, maxLength: 60 })
  .map((times) => times.toSorted((one, other) => one - other));

describe('the block closest to a time', () => {
  it('is the one that looking at every block finds, with several blocks in a second and whatever is known', async () => {
    await fc.assert(
      fc.asyncProperty(
        CHAIN,
        // Also between full seconds.
        fc.integer({ min: 360, max: 2_800 }).map((quarters) => quarters / 4),
        fc.constantFrom(...CLOSEST),
        fc.array(fc.nat(59)),
        fc.nat(1_000),
        async (times, time, closest, places, first) => {
          const blocks = chainOf(times, first);
          const known = places.flatMap((place) => blocks[place] ?? []);
          const { neighbours } = nodeOf(blocks);
          const found = await closestBlock(time, closest, (at) => neighbours(at, known));
          expect(found).toEqual(expected(blocks, time, closest));
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each<[Closest, number, number]>([
    ['nearest', 105, 0],
    ['nearest', 105.5, 1],
    ['nearest', 106, 1],
    ['before', 109, 0],
    ['after', 100.5, 1],
    ['after', 101, 1],
    ['before', 110, 3],
    ['nearest', 110, 1],
    ['after', 110, 1],
    ['nearest', 112, 1],
    ['nearest', 1_000, 4],
    ['after', 1_000, 4],
    ['before', 5, 0],
  ])('%s of %d is block %d, a tie being the earlier one’s', async (closest, time, number) => {
    const { neighbours } = nodeOf(chainOf([100, 110, 110, 110, 120]));
    expect((await closestBlock(time, closest, (at) => neighbours(at)))?.number).toBe(number);
  });

  it('is not told where the neighbours are not known', async () => {
    for (const closest of CLOSEST) expect(await closestBlock(5, closest, async () => null)).toBeNull();
  });

  it('takes few calls among twenty million blocks, also behind a first block without a time', async () => {
    const { read, first, head } = longChain(20_000_000);
    for (const number of [1, 2, 500, 1_000_000, 9_193_266, 15_537_394, 19_999_990]) {
      const node = { requested: 0 };
      const { timestamp } = read(number);
      const { from } = await searchTimes(timestamp, {
        ...{ chain: 'test', first, head },
        read: async (numbers) => {
          node.requested += numbers.length;
          return numbers.map(read);
        },
      });
      expect(from?.number).toBe(number);
      expect(node.requested, `block ${number}`).toBeLessThanOrEqual(40);
    }
  });

  it('is refused where what was found does not belong together', async () => {
    const blocks = chainOf([100, 110, 120]).map((block, at) =>
      at === 2 ? { ...block, parentHash: hashOf(9, 9) } : block,
    );
    await expect(nodeOf(blocks).neighbours(115)).rejects.toThrow(/has to be read again/);
  });
});

/** Like Ethereum: a genesis without a time, thirteen seconds a block, then twelve with some missing. */
function longChain(length: number) {
  const MERGE = Math.floor(length * 0.7);
  const timeOf = (number: number): number => {
    if (number === 0) return 0;
    const slow = Math.min(number, MERGE) * 13 + (number % 7);
    return (
      1_438_269_988 + slow + Math.max(0, number - MERGE) * 12 + Math.floor(Math.max(0, number - MERGE) / 100) * 12
    );
  };
  const monotone = (number: number): number => Math.max(timeOf(number), number > 1 ? timeOf(number - 1) : 0);
  const hash = (number: number) => hashOf(2, number);
  const read = (number: number): TimedBlock => ({
    number,
    hash: hash(number),
    parentHash: number === 0 ? null : hash(number - 1),
    timestamp: monotone(number),
  });
  return { read, first: read(0), head: read(length) };
}
