import { describe, expect, test } from 'vitest';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import { chooseLogs } from './choose-logs.ts';

const logAt = (block: number, logIndex = 0) => ({ block, transactionIndex: 3, logIndex });

/** A pool with a log in each of these blocks. */
const poolOf = (blocks: readonly number[]) => ({
  candidate: {
    ...{ pair_address: '0x', exchange_name: '', role: 'counted' as const, price_usd: '1', weight_usd: '1' },
    ...{ is_stable: null, bin_step: null, created_time: 0, reading_block: null, sides: [], states: [] },
  },
  stored: { logs: blocks.map((block) => logAt(block)), ticks: [] },
});

const anchor: PriceExplanation['anchors'][number] = {
  ...{ token_address: '0x', price_usd: '1', price_numerator: '1', price_denominator: '1', source: 'feed' },
  ...{ feed: null, aggregator: null, round: null, block: null, transaction_index: null, log_index: null },
};

const blocksFrom = (first: number, count: number) => Array.from({ length: count }, (_, place) => first + place);

describe('the logs to prove', () => {
  test('are in 256 blocks: those of feeds, all of a quiet pool, and the newest ones of a busy pool', () => {
    const pools = [poolOf(blocksFrom(1_000, 300)), poolOf([7, 1_100])];
    const chosen = chooseLogs({ pools, feeds: [{ anchor, log: logAt(5) }] });
    // Block 1,100 has logs of both pools.
    expect([...chosen.keys()].toSorted((one, other) => one - other)).toEqual([5, 7, ...blocksFrom(1_046, 254)]);
  });

  test('are the newest ones of two busy pools', () => {
    const even = blocksFrom(0, 200).map((place) => 2 * place);
    const odd = even.map((block) => block + 1);
    const chosen = chooseLogs({ pools: [poolOf(even), poolOf(odd)], feeds: [] });
    expect([...chosen.keys()].toSorted((one, other) => one - other)).toEqual(blocksFrom(144, 256));
  });

  test('are each one once, in the order of pools', () => {
    const [one, other] = [poolOf([9]), poolOf([9])];
    const more = { ...other, stored: { logs: [logAt(9), logAt(9, 4)], ticks: [] } };
    expect(chooseLogs({ pools: [one, more], feeds: [{ anchor, log: null }] })).toEqual(
      new Map([
        [
          9,
          [
            { transactionIndex: 3, logIndex: 0 },
            { transactionIndex: 3, logIndex: 4 },
          ],
        ],
      ]),
    );
  });
});
