import type { Hash } from '@chainstead/core';
import { expect, test } from 'vitest';
import { blockNumbers, onLogs, ranges } from './testing/log-ranges.ts';
import { TOPIC } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool } from './testing/test-pool.ts';

const hash = (digit: string): Hash => `0x${'0'.repeat(63)}${digit}` as Hash;
const [A, B, C] = [hash('a'), hash('b'), hash('c')];
/** By block: A to B, B to A, A to C, C to A with a third argument. */
const argumentsIn = (block: number): readonly string[] =>
  [
    [A, B],
    [B, A],
    [A, C],
    [C, A, B],
  ][block % 4] ?? [];
const range = { from: 0, to: 7 };

test.each<[string, readonly (readonly Hash[] | null)[], readonly number[]]>([
  ['the first argument', [[A]], [0, 2, 4, 6]],
  ['alternatives', [[A, C]], [0, 2, 3, 4, 6, 7]],
  ['the second argument', [null, [A]], [1, 3, 5, 7]],
  ['both arguments', [[A], [C]], [2, 6]],
  ['a third argument, whatever it is', [null, [A], null], [3, 7]],
  ['nothing', [], [0, 1, 2, 3, 4, 5, 6, 7]],
])('logs are asked for by %s', async (_what, indexed, blocks) => {
  const one = await node(20, { argumentsIn });
  const pool = await startedPool([one]);
  const answer = await pool.getLogs({ range, topics: [TOPIC], indexed });
  expect(blockNumbers(answer)).toEqual(blocks);
  const [filter] = one.received.find(({ method }) => method === 'eth_getLogs')?.params ?? [];
  expect(filter).toMatchObject({ topics: [[TOPIC], ...indexed] });
});

test('any topic0 goes with arguments too', async () => {
  const one = await node(20, { argumentsIn });
  const pool = await startedPool([one]);
  const answer = await pool.getLogs({ range, topics: [], indexed: [[B]] });
  expect(blockNumbers(answer)).toEqual([1, 5]);
});

test('a node that reads a null at the end as "no argument needed" gives no more for it', async () => {
  const lax = await node(20, { argumentsIn });
  const pool = await startedPool([lax]);
  const all = await pool.getLogs({ range, topics: [TOPIC], indexed: [null, [A]] });
  lax.script = (call) =>
    call.method === 'eth_getLogs'
      ? {
          result: all.logs.map((log) => ({
            ...log,
            blockNumber: `0x${log.blockNumber.toString(16)}`,
            ...INDEXES,
          })),
        }
      : undefined;
  const answer = await pool.getLogs({ range, topics: [TOPIC], indexed: [null, [A], null] });
  expect(blockNumbers(answer)).toEqual([3, 7]);
});

const INDEXES = { transactionIndex: '0x0', logIndex: '0x0', blockTimestamp: undefined };

test('an upstream that does not filter by arguments is not believed', async () => {
  const careless = await node(20, { argumentsIn });
  const honest = await node(20, { argumentsIn });
  const pool = await startedPool([careless, honest]);
  const all = await pool.getLogs({ range, topics: [TOPIC] });
  careless.script = (call) =>
    call.method === 'eth_getLogs'
      ? {
          result: all.logs.map((log) => ({
            ...log,
            blockNumber: `0x${log.blockNumber.toString(16)}`,
            ...INDEXES,
          })),
        }
      : undefined;
  const query = { range, topics: [TOPIC], indexed: [[A]] };
  for (let round = 0; round < 4; round++) expect(blockNumbers(await pool.getLogs(query))).toEqual([0, 2, 4, 6]);
  // So far, only the upstream with the better score was used.
  await expect(pool.getLogs(query, { only: careless.name })).rejects.toThrow('malformed');
  expect(faultsOf(pool, careless.name).malformed).toBeGreaterThan(0);
});

test('a block too large for any getLogs is read from its receipts with the same filter', async () => {
  const one = await node(20, { argumentsIn });
  const pool = await startedPool([one]);
  one.script = onLogs(() => ({ error: { code: -32005, message: 'query returned more than 10 results' } }));
  const answer = await pool.getLogs({ range: { from: 2, to: 3 }, topics: [TOPIC], indexed: [[A]] });
  expect(blockNumbers(answer)).toEqual([2]);
});

test('what one wallet taught about ranges serves the next, and says nothing of other queries', async () => {
  const one = await node(90_000, { argumentsIn: () => [C, C], logsIn: () => 0 });
  const limits = {
    logRangeStart: 100,
    logRangeStartNarrow: 3_000,
    logRangeMax: 40_000,
    logsConcurrency: 1,
    attemptTimeoutMs: 10_000,
  };
  const pool = await startedPool([one], { limits });
  const whole = { from: 0, to: 59_999 };
  const requested = async (work: () => Promise<unknown>): Promise<number[]> => {
    const before = ranges(one).length;
    await work();
    return ranges(one)
      .slice(before)
      .map(({ size }) => size);
  };
  const first = await requested(() => pool.getLogs({ range: whole, topics: [TOPIC], indexed: [[A]] }));
  expect(first).toEqual([3_000, 12_000, 40_000, 5_000]);
  expect(await requested(() => pool.getLogs({ range: whole, topics: [TOPIC], indexed: [[B]] }))).toEqual([
    40_000, 20_000,
  ]);
  const broad = await requested(() => pool.getLogs({ range: whole, topics: [TOPIC] }));
  expect(broad[0]).toBe(100);
});

test('the estimate is near the calls that are made, and an answer counts its calls', async () => {
  const one = await node(90_000, { logsIn: () => 0 });
  const pool = await startedPool([one], { limits: { logsConcurrency: 1 } });
  one.script = onLogs(({ size }) =>
    size > 2_000 ? { error: { code: -32000, message: 'exceed maximum block range: 2000' } } : undefined,
  );
  const query = { topics: [TOPIC], indexed: [null, [A]] };
  expect(pool.estimateLogCalls(query, [range])).toBe(1);
  const first = await pool.getLogs({ range: { from: 0, to: 9_999 }, ...query });
  expect(first.calls).toBe(ranges(one).length);
  const parts = [
    { from: 10_000, to: 49_999 },
    { from: 60_000, to: 89_999 },
  ];
  const estimate = pool.estimateLogCalls(query, parts);
  let calls = 0;
  for (const part of parts) calls += (await pool.getLogs({ range: part, ...query })).calls;
  expect(estimate).toBe(35);
  expect(calls).toBe(35);
});

test('the estimate is that of the upstream that needs fewest calls', async () => {
  const [narrow, wide] = [await node(90_000, { logsIn: () => 0 }), await node(90_000, { logsIn: () => 0 })];
  const pool = await startedPool([narrow, wide], { limits: { logsConcurrency: 1 } });
  narrow.script = onLogs(({ size }) =>
    size > 100 ? { error: { code: -32000, message: 'exceed maximum block range: 100' } } : undefined,
  );
  const query = { topics: [TOPIC], indexed: [[A]] };
  await pool.getLogs({ range: { from: 0, to: 999 }, ...query }, { only: narrow.name });
  expect(pool.estimateLogCalls(query, [{ from: 0, to: 49_999 }])).toBeLessThan(10);
});

test('a log without the argument is malformed where only one upstream is there', async () => {
  const careless = await node(20, { argumentsIn });
  const pool = await startedPool([careless], { limits: { rounds: 1, deadlineMs: 300 } });
  const all = await pool.getLogs({ range, topics: [TOPIC] });
  careless.script = (call) =>
    call.method === 'eth_getLogs'
      ? {
          result: all.logs.map((log) => ({
            ...log,
            blockNumber: `0x${log.blockNumber.toString(16)}`,
            ...INDEXES,
          })),
        }
      : undefined;
  expect(String(await errorOf(pool.getLogs({ range, topics: [TOPIC], indexed: [[A]] })))).toMatch(
    /argument that was not/,
  );
});
