import { describe, expect, test } from 'vitest';
import { UpstreamsExhaustedError } from './errors.ts';
import { expectCovered, numbers, onLogs, type Requested, ranges, WIDE } from './testing/log-ranges.ts';
import { logsOf, OTHER_TOPIC, type ScriptedNode, TOKEN, TOPIC } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool } from './testing/test-pool.ts';
import type { LogsAnswer } from './upstream-pool.ts';

describe('a wrong answer is a fault, and another upstream is asked', () => {
  const log = (from: number, change: object = {}): Record<string, unknown> => ({
    ...logsOf({}, from, from)[0],
    ...change,
  });
  test.each<[string, (requested: Requested) => unknown]>([
    ['a log outside the range', ({ to }) => [log(to + 1)]],
    ['a topic that was not asked for', ({ from }) => [log(from, { topics: [OTHER_TOPIC] })]],
    ['a contract that was not asked for', ({ from }) => [log(from, { address: `0x${'bb'.repeat(20)}` })]],
    ['a broken hash', ({ from }) => [log(from, { transactionHash: '0x12' })]],
    ['a log index near 2^32', ({ from }) => [log(from, { logIndex: '0xfffffffe' })]],
    ['two hashes of one block', ({ from }) => [log(from), log(from, { logIndex: '0x9', blockHash: TOPIC })]],
    ['no list', () => ({ logs: [] })],
  ])('%s', async (_what, answer) => {
    const liar = await node(5_000);
    const well = await node(5_000);
    const pool = await startedPool([liar, well]);
    liar.script = onLogs((requested) => ({ result: answer(requested) }));
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

test('a value that no column holds is named with the upstream', async () => {
  const liar = await node(5_000);
  const pool = await startedPool([liar]);
  const [log] = logsOf({}, 100, 100);
  liar.script = onLogs(() => ({ result: [{ ...log, logIndex: '0xfffffffe' }] }));
  const query = { range: { from: 100, to: 100 }, topics: [TOPIC], addresses: [TOKEN] };
  expect(await errorOf(pool.getLogs(query))).toMatchObject({
    message: expect.stringContaining(`${liar.name}: malformed: "0xfffffffe" is not a valid log index`),
  });
});

describe('logs that are not numbered by block', () => {
  const FOUR = { logsIn: (): number => 4 };
  const query = { range: { from: 1, to: 3 }, topics: [TOPIC] };
  const placesOf = ({ logs }: LogsAnswer): string[] =>
    logs.map((log) => `${log.blockNumber}/${log.transactionIndex}/${log.logIndex}`);
  const TRUE_PLACES = [1, 2, 3].flatMap((block) =>
    ['0/0', '0/1', '0/2', '1/3'].map((place) => `${block}/${place}`),
  );

  test.each<[string, (logs: readonly Record<string, unknown>[]) => unknown[]]>([
    [
      'by transaction',
      (logs) => logs.map((log) => (log.transactionIndex === '0x1' ? { ...log, logIndex: '0x0' } : log)),
    ],
    ['all alike', (logs) => logs.map((log) => ({ ...log, logIndex: '0x0' }))],
    ['and one comes twice', (logs) => [logs[0], ...logs]],
  ])('%s: those of receipts are taken, and it is counted', async (_what, bent) => {
    const one = await node(5_000, FOUR);
    const pool = await startedPool([one]);
    one.script = onLogs(({ from, to }) => ({ result: bent(logsOf(FOUR, from, to)) }));
    expect(placesOf(await pool.getLogs(query))).toEqual(TRUE_PLACES);
    expect(faultsOf(pool, one.name)['log-index-mismatch']).toBeGreaterThan(0);
    // From now on this also applies if a response shows no sign of it.
    one.script = onLogs(({ from, to }) => ({ result: bent(logsOf(FOUR, from, to)).slice(3, 4) }));
    expect(placesOf(await pool.getLogs({ ...query, range: { from: 5, to: 5 } }))).toContain('5/1/3');
  });

  test('are left as they come where chains may number so', async () => {
    const one = await node(5_000, FOUR);
    const pool = await startedPool([one], { chain: { receiptsRoot: 'none' } });
    one.script = onLogs(({ from, to }) => ({
      result: logsOf(FOUR, from, to).map((log) =>
        log.transactionIndex === '0x1' ? { ...log, logIndex: '0x0' } : log,
      ),
    }));
    expect(placesOf(await pool.getLogs(query))).toEqual(TRUE_PLACES.map((place) => place.replace('1/3', '1/0')));
    expect(one.count('eth_getBlockByNumber')).toBeLessThan(5);
  });
});

describe('null instead of a list', () => {
  const SPARSE = { logsIn: (block: number): number => (block % 50 === 0 ? 2 : 0) };
  const BLOOMS = {
    ...SPARSE,
    bloomIn: (block: number): string => `0x${(block % 50 === 0 ? 'ff' : '00').repeat(256)}`,
  };
  const query = { range: { from: 1, to: 400 }, topics: [TOPIC] };

  test('is no logs where blooms say so, whatever the size of the range', async () => {
    const one = await node(5_000, BLOOMS);
    const pool = await startedPool([one], { limits: WIDE });
    one.script = onLogs(({ from, to }) => {
      const logs = logsOf(BLOOMS, from, to);
      return { result: logs.length === 0 ? null : logs };
    });
    const before = one.count('eth_getBlockReceipts');
    expect((await pool.getLogs({ ...query, range: { from: 1, to: 49 } })).logs).toEqual([]);
    expect(one.count('eth_getBlockReceipts')).toBe(before);
    expect((await pool.getLogs(query)).logs).toHaveLength(16);
    expect(faultsOf(pool, one.name)).toEqual({});
  });

  test('is counted where there are logs, which come from the receipts then', async () => {
    const one = await node(5_000, BLOOMS);
    const pool = await startedPool([one], { limits: WIDE });
    one.script = onLogs(() => ({ result: null }));
    expect((await pool.getLogs(query)).logs).toHaveLength(16);
    expect(faultsOf(pool, one.name)['missing-logs']).toBeGreaterThan(0);
  });

  test('says nothing on a chain whose blooms say nothing', async () => {
    const chain = { logsIn: SPARSE.logsIn };
    const one = await node(5_000, chain);
    const pool = await startedPool([one], { limits: WIDE, chain: { receiptsRoot: 'none' } });
    one.script = onLogs(() => ({ result: null }));
    expect((await pool.getLogs(query)).logs).toHaveLength(16);
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
    expect(logs.map((log) => log.blockTimestamp)).toEqual(
      numbers(5, 9).map((block) => 1_700_000_000 + block * 12),
    );
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
