import { describe, expect, test, vi } from 'vitest';
import { UpstreamsExhaustedError } from './errors.ts';
import {
  logsOf,
  OTHER_TOPIC,
  type Received,
  type Scripted,
  type ScriptedNode,
  TOKEN,
  TOPIC,
} from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool } from './testing/test-pool.ts';
import type { LogsAnswer } from './upstream-pool.ts';

const WIDE = { logRangeStart: 100_000 };

interface Asked {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

function askedRange(call: Received): Asked {
  const filter = call.params[0] as { fromBlock: string; toBlock: string };
  const from = Number(filter.fromBlock);
  const to = Number(filter.toBlock);
  return { from, to, size: to - from + 1 };
}

function ranges(of: ScriptedNode): Asked[] {
  return of.received.filter(({ method }) => method === 'eth_getLogs').map(askedRange);
}

/** Answers getLogs by what is asked for; undefined for the truth. */
function onLogs(answer: (asked: Asked) => Scripted | undefined): ScriptedNode['script'] {
  return (call) => (call.method === 'eth_getLogs' ? answer(askedRange(call)) : undefined);
}

/** Each block of these chains has one log with its own number as the block. */
function blockNumbers(answer: LogsAnswer): number[] {
  return answer.logs.map((log) => log.blockNumber);
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function expectCovered(answer: LogsAnswer, from: number, to: number): void {
  expect(blockNumbers(answer)).toEqual(numbers(from, to));
  expect(answer.sources[0]?.range.from).toBe(from);
  expect(answer.sources.at(-1)?.range.to).toBe(to);
  answer.sources.forEach(({ range }, index) => {
    if (index > 0) expect(range.from).toBe((answer.sources[index - 1]?.range.to ?? 0) + 1);
  });
}

test('a range is answered whole, in order, with its source', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one]);
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
    size > 700 ? { error: { code: -32005, message: 'Requested range exceeds maximum RPC range limit' } } : undefined,
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

test('a cap of results shrinks only the dense stretch, takes the suggestion, and grows back', async () => {
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
  const asked = ranges(one);
  expect(asked[1]).toEqual({ from: 900, to: 915, size: 16 });
  expect(Math.max(...asked.slice(1).map(({ size }) => size))).toBeGreaterThan(2_000);
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
  const pool = await startedPool([one], { limits: { ...WIDE, heavyTimeoutMs: 60 } });
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

describe('a wrong answer is a fault, and another upstream is asked', () => {
  const log = (from: number, change: object = {}): Record<string, unknown> => ({
    ...logsOf({}, from, from)[0],
    ...change,
  });
  test.each<[string, (asked: Asked) => unknown]>([
    ['a log outside the range', ({ to }) => [log(to + 1)]],
    ['a topic that was not asked for', ({ from }) => [log(from, { topics: [OTHER_TOPIC] })]],
    ['a contract that was not asked for', ({ from }) => [log(from, { address: `0x${'bb'.repeat(20)}` })]],
    ['a log twice', ({ from }) => [log(from), log(from)]],
    ['a broken hash', ({ from }) => [log(from, { transactionHash: '0x12' })]],
    ['two hashes of one block', ({ from }) => [log(from), log(from, { logIndex: '0x9', blockHash: TOPIC })]],
    ['no list', () => ({ logs: [] })],
    ['null', () => null],
  ])('%s', async (_what, answer) => {
    const liar = await node(5_000);
    const well = await node(5_000);
    const pool = await startedPool([liar, well]);
    liar.script = onLogs((asked) => ({ result: answer(asked) }));
    const query = { range: { from: 100, to: 199 }, topics: [TOPIC], addresses: [TOKEN] };
    for (let call = 0; call < 4; call++) {
      const found = await pool.getLogs(query);
      expectCovered(found, 100, 199);
      expect(found.sources[0]?.upstream).toBe(well.name);
    }
    expect(await errorOf(pool.getLogs(query, { only: liar.name }))).toBeInstanceOf(UpstreamsExhaustedError);
    expect(faultsOf(pool, liar.name).malformed).toBeGreaterThan(0);
  });
});

test('logs in the wrong order are put right', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one]);
  one.script = onLogs(({ from, to }) => ({ result: logsOf({}, from, to).reverse() }));
  expectCovered(await pool.getLogs({ range: { from: 0, to: 150 }, topics: [TOPIC] }), 0, 150);
});

test('an answer cut at a round number is not believed, and counted', async () => {
  const logsIn = (): number => 10;
  const one = await node(1_000, { logsIn });
  const pool = await startedPool([one], { limits: WIDE });
  one.script = onLogs(({ from, to }) => ({ result: logsOf({ logsIn }, from, to).slice(0, 1_000) }));
  const answer = await pool.getLogs({ range: { from: 0, to: 799 }, topics: [TOPIC] });
  expect(answer.logs).toHaveLength(8_000);
  expect(faultsOf(pool, one.name).truncated).toBeGreaterThan(0);
});

describe('above the head', () => {
  test('an upstream is never asked for blocks that it has not reported', async () => {
    const behind = await node(100);
    const ahead = await node(200);
    const pool = await startedPool([behind, ahead]);
    for (let call = 0; call < 4; call++) {
      const answer = await pool.getLogs({ range: { from: 50, to: 150 }, topics: [TOPIC] });
      expectCovered(answer, 50, 150);
      expect(answer.sources[0]?.upstream).toBe(ahead.name);
    }
    expect(ranges(behind).filter(({ to }) => to > 100)).toEqual([]);
  });

  test('that nobody has reached is an error, not an empty answer', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    const error = await errorOf(pool.getLogs({ range: { from: 90, to: 110 }, topics: [TOPIC] }));
    expect(String(error)).toContain('has only reached block 100');
    one.head = 110;
    expectCovered(await pool.getLogs({ range: { from: 90, to: 110 }, topics: [TOPIC] }), 90, 110);
  });

  test('[] of a node that announces more than it has is not believed', async () => {
    const liar = await node(100);
    const well = await node(200);
    const pool = await startedPool([liar, well]);
    liar.script = ({ method }) => (method === 'eth_blockNumber' ? { result: '0xc8' } : undefined);
    for (let call = 0; call < 6; call++)
      expectCovered(await pool.getLogs({ range: { from: 150, to: 190 }, topics: [TOPIC] }), 150, 190);
    await errorOf(pool.getLogs({ range: { from: 150, to: 190 }, topics: [TOPIC] }, { only: liar.name }));
    expect(faultsOf(pool, liar.name)['missing-block']).toBeGreaterThan(0);
  });

  test('logs of another branch than the block they end at are refused', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    one.script = onLogs(({ from, to }) => ({ result: logsOf({ fork: { from: 100, name: 'other' } }, from, to) }));
    await errorOf(pool.getLogs({ range: { from: 100, to: 100 }, topics: [TOPIC] }));
    expect(faultsOf(pool, one.name)['log-block-hash-mismatch']).toBeGreaterThan(0);
  });
});

test('an upstream that keeps no history is asked last for it, and still for recent blocks', async () => {
  const recent = await node(10_000);
  const archive = await node(10_000);
  const pool = await startedPool([recent, archive]);
  recent.script = onLogs(({ from }) =>
    from < 9_000
      ? {
          http: {
            status: 403,
            body: '{"error":{"code":-32602,"message":"Archive requests require a personal token"}}',
          },
        }
      : undefined,
  );
  for (let from = 8_000; from > 7_000; from -= 100)
    expectCovered(await pool.getLogs({ range: { from, to: from + 99 }, topics: [TOPIC] }), from, from + 99);
  expect(ranges(recent).length).toBeLessThanOrEqual(2);
  expectCovered(
    await pool.getLogs({ range: { from: 9_500, to: 9_599 }, topics: [TOPIC] }, { only: recent.name }),
    9_500,
    9_599,
  );
});

describe('timestamps in logs', () => {
  const withTimestamps = (wrongBy: number): ScriptedNode['script'] =>
    onLogs(({ from, to }) => ({
      result: logsOf({}, from, to).map((log) => ({
        ...log,
        blockTimestamp: `0x${(1_700_000_000 + Number(log.blockNumber) * 12 + wrongBy).toString(16)}`,
      })),
    }));

  test('are kept where one of them agrees with its header', async () => {
    const one = await node(1_000);
    const pool = await startedPool([one]);
    one.script = withTimestamps(0);
    const { logs } = await pool.getLogs({ range: { from: 5, to: 9 }, topics: [TOPIC] });
    expect(logs.map((log) => log.blockTimestamp)).toEqual(numbers(5, 9).map((block) => 1_700_000_000 + block * 12));
    expect(pool.status()[0]?.capabilities.logTimestamps).toBe(true);
  });

  test('are left out where it does not', async () => {
    const one = await node(1_000);
    const pool = await startedPool([one]);
    one.script = withTimestamps(1);
    const { logs } = await pool.getLogs({ range: { from: 5, to: 9 }, topics: [TOPIC] });
    expect(logs.map((log) => log.blockTimestamp)).toEqual([null, null, null, null, null]);
    expect(pool.status()[0]?.capabilities.logTimestamps).toBe(false);
  });
});

test('parts of a range run over all upstreams at once', async () => {
  const nodes = [await node(5_000), await node(5_000), await node(5_000)];
  const pool = await startedPool(nodes, { limits: { logRangeStart: 100, logRangeMax: 100 } });
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
  const pool = await startedPool([one]);
  const others = Array.from({ length: 1_500 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);
  const answer = await pool.getLogs({ range: { from: 0, to: 50 }, topics: [TOPIC], addresses: [...others, TOKEN] });
  expect(blockNumbers(answer)).toEqual(numbers(0, 50));
});

test('an abort ends the whole range', async () => {
  const one = await node(5_000);
  const pool = await startedPool([one]);
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
  const pool = await startedPool([one]);
  expect(await pool.getLogs({ range: { from: 5, to: 4 }, topics: [TOPIC] })).toEqual({ logs: [], sources: [] });
});
