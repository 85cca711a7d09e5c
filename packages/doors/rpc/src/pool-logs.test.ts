import { expect, test, vi } from 'vitest';
import { blockNumbers, expectCovered, numbers, onLogs, PATIENT, ranges, WIDE } from './testing/log-ranges.ts';
import { logsOf, OTHER_TOPIC, type Scripted, type ScriptedNode, TOKEN, TOPIC } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool } from './testing/test-pool.ts';

test('a range is answered whole, in order, with its source', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one], { limits: PATIENT });
  const answer = await pool.getLogs({ range: { from: 10, to: 4_000 }, topics: [TOPIC] });
  expectCovered(answer, 10, 4_000);
  expect(answer.sources).toEqual([{ range: { from: 10, to: 4_000 }, upstream: one.name }]);
});

test('a cap of blocks is learnt from the text once, kept, and shown', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one], { limits: WIDE });
  one.script = onLogs(({ size }) =>
    size > 500 ? { error: { code: -32000, message: 'eth_getLogs is limited to a 500 range' } } : undefined,
  );
  expectCovered(await pool.getLogs({ range: { from: 0, to: 2_999 }, topics: [TOPIC] }), 0, 2_999);
  expectCovered(await pool.getLogs({ range: { from: 3_000, to: 4_999 }, topics: [TOPIC] }), 3_000, 4_999);
  expect(ranges(one).filter(({ size }) => size > 500)).toHaveLength(1);
  expect(pool.status()[0]?.capabilities.logRangeMax).toBe(500);
  expect(faultsOf(pool, one.name)).toEqual({ 'range-limit': 1 });
});

test('a cap without a number is found by halving', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one], { limits: WIDE });
  one.script = onLogs(({ size }) =>
    size > 700
      ? { error: { code: -32005, message: 'Requested range exceeds maximum RPC range limit' } }
      : undefined,
  );
  expectCovered(await pool.getLogs({ range: { from: 0, to: 4_999 }, topics: [TOPIC] }), 0, 4_999);
  expect(ranges(one).filter(({ size }) => size > 700).length).toBeLessThan(8);
});

test('each upstream is asked within its own cap', async () => {
  const small = await node(5_000);
  const large = await node(5_000);
  const pool = await startedPool(
    [
      { url: small.url, concurrency: 2 },
      { url: large.url, concurrency: 2 },
    ],
    { limits: WIDE },
  );
  const capped = (cap: number): ScriptedNode['script'] =>
    onLogs(({ size }) =>
      size > cap ? { error: { code: -32602, message: `exceed maximum block range: ${cap}` } } : undefined,
    );
  small.script = capped(100);
  large.script = capped(400);
  const answer = await pool.getLogs({ range: { from: 0, to: 3_999 }, topics: [TOPIC] });
  expectCovered(answer, 0, 3_999);
  expect(ranges(small).filter(({ size }) => size > 100).length).toBeLessThanOrEqual(1);
  expect(ranges(large).filter(({ size }) => size > 400).length).toBeLessThanOrEqual(1);
});

test('a cap of results shrinks only the dense span, takes the suggestion, and grows back', async () => {
  const dense = (block: number): number => (block >= 1_000 && block < 1_100 ? 50 : 0);
  const one = await node(20_000, { logsIn: dense });
  const pool = await startedPool([one], { limits: { ...WIDE, logsConcurrency: 1 } });
  one.script = onLogs(({ from, to }) =>
    logsOf({ logsIn: dense }, from, to).length > 1_000
      ? {
          error: {
            code: -32005,
            message: `query returned more than 1000 results. Try with this block range [0x${from.toString(16)}, 0x${(from + 15).toString(16)}].`,
          },
        }
      : undefined,
  );
  const answer = await pool.getLogs({ range: { from: 900, to: 18_000 }, topics: [TOPIC] });
  expect(answer.logs).toHaveLength(5_000);
  const requested = ranges(one);
  expect(requested[1]).toEqual({ from: 900, to: 915, size: 16 });
  expect(Math.max(...requested.slice(1).map(({ size }) => size))).toBeGreaterThan(2_000);
  expect(pool.status()[0]?.capabilities.logRangeMax).toBeNull();
});

test.each([
  ['-32005 with rate words', { error: { code: -32005, message: 'project ID request rate exceeded' } }],
  ['-32007', { error: { code: -32007, message: '50/second request limit reached' } }],
  [
    'code 429 in HTTP 200',
    { error: { code: 429, message: 'Your app has exceeded its compute units per second capacity' } },
  ],
  ['HTTP 429', { http: { status: 429, body: '', headers: { 'retry-after': '0.05' } } }],
] as [string, Scripted][])('a throttle (%s) is waited out and never shrinks a range', async (_what, answer) => {
  const one = await node(5_000);
  const pool = await startedPool([one], { limits: WIDE });
  let throttles = 2;
  one.script = onLogs(() => (throttles-- > 0 ? answer : undefined));
  expectCovered(await pool.getLogs({ range: { from: 0, to: 999 }, topics: [TOPIC] }), 0, 999);
  expect(ranges(one).map(({ size }) => size)).toEqual([1_000, 1_000, 1_000]);
  expect(faultsOf(pool, one.name)).toEqual({ 'rate-limited': 2 });
});

test('an unknown text that smells of size halves', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one], { limits: WIDE });
  one.script = onLogs(({ size }) =>
    size > 300 ? { error: { code: -32000, message: 'that is far too many for me' } } : undefined,
  );
  expectCovered(await pool.getLogs({ range: { from: 0, to: 999 }, topics: [TOPIC] }), 0, 999);
});

test('time-outs halve after one repeat', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one], { limits: { ...WIDE, heavyTimeoutMs: 300 } });
  one.script = onLogs(({ size }) => (size > 500 ? 'hang' : undefined));
  expectCovered(await pool.getLogs({ range: { from: 0, to: 999 }, topics: [TOPIC] }), 0, 999);
  expect(ranges(one).filter(({ size }) => size === 1_000)).toHaveLength(2);
});

test('an answer larger than the limit halves', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one], { limits: { ...WIDE, responseBytesMax: 100_000 } });
  expectCovered(await pool.getLogs({ range: { from: 0, to: 999 }, topics: [TOPIC] }), 0, 999);
  expect(
    Math.max(
      ...ranges(one)
        .slice(1)
        .map(({ size }) => size),
    ),
  ).toBeLessThanOrEqual(500);
});

test('one block above a cap of results is read from its receipts', async () => {
  const logsIn = (block: number): number => (block === 50 ? 400 : 1);
  const one = await node(100, { logsIn });
  const pool = await startedPool([one], { limits: WIDE });
  one.script = onLogs(({ from, to }) =>
    logsOf({ logsIn }, from, to).length > 300
      ? { error: { code: -32000, message: 'query returns too many logs, narrow your filter: 300' } }
      : undefined,
  );
  const answer = await pool.getLogs({ range: { from: 0, to: 99 }, topics: [TOPIC], addresses: [TOKEN] });
  expect(answer.logs).toHaveLength(499);
  expect(answer.logs.filter((log) => log.blockNumber === 50)).toHaveLength(400);
  expect((await pool.getLogs({ range: { from: 50, to: 50 }, topics: [OTHER_TOPIC] })).logs).toEqual([]);
});

test('a barrier is never crossed, whatever is put back', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one], { chain: { rangeBarriers: [1_500, 3_000] }, limits: WIDE });
  one.script = onLogs(({ size }) =>
    size > 400 ? { error: { code: -32000, message: 'query timeout exceeded' } } : undefined,
  );
  expectCovered(await pool.getLogs({ range: { from: 0, to: 3_999 }, topics: [TOPIC] }), 0, 3_999);
  for (const { from, to } of ranges(one))
    for (const barrier of [1_500, 3_000]) expect(from < barrier && barrier <= to).toBe(false);
});

test('parts of a range run over all upstreams at once', async () => {
  const nodes = [await node(5_000), await node(5_000), await node(5_000)];
  const pool = await startedPool(nodes, { limits: { ...PATIENT, logRangeStart: 100, logRangeMax: 100 } });
  for (const one of nodes)
    one.script = async ({ method }) => {
      if (method === 'eth_getLogs') await new Promise((resolve) => setTimeout(resolve, 10));
      return undefined;
    };
  expectCovered(await pool.getLogs({ range: { from: 0, to: 2_999 }, topics: [TOPIC] }), 0, 2_999);
  for (const one of nodes) expect(ranges(one).length).toBeGreaterThan(2);
});

test('more addresses than a filter holds are asked in parts and answered in order', async () => {
  const one = await node(1_000);
  const pool = await startedPool([one], { limits: PATIENT });
  const others = Array.from({ length: 1_500 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);
  const answer = await pool.getLogs({
    range: { from: 0, to: 50 },
    topics: [TOPIC],
    addresses: [...others, TOKEN],
  });
  expect(blockNumbers(answer)).toEqual(numbers(0, 50));
});

test('an abort ends the whole range', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one], { limits: PATIENT });
  one.script = onLogs(() => 'hang');
  const controller = new AbortController();
  const failing = errorOf(
    pool.getLogs({ range: { from: 0, to: 4_000 }, topics: [TOPIC] }, { signal: controller.signal }),
  );
  await vi.waitFor(() => expect(one.count('eth_getLogs')).toBeGreaterThan(0));
  controller.abort();
  expect(await failing).toMatchObject({ code: 'REQUEST_ABORTED' });
});

test('an empty range is empty', async () => {
  const one = await node(100);
  const pool = await startedPool([one], { limits: PATIENT });
  expect(await pool.getLogs({ range: { from: 5, to: 4 }, topics: [TOPIC] })).toEqual({
    logs: [],
    sources: [],
    calls: 0,
  });
});
