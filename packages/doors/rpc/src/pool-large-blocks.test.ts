import { describe, expect, test } from 'vitest';
import { onLogs, WIDE } from './testing/log-ranges.ts';
import { type Scripted, type ScriptedNode, TOPIC } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool } from './testing/test-pool.ts';
import { LargeResponses } from './transport/large-responses.ts';

/** Ten transactions with three logs each: 24,000 bytes of receipts. */
const LARGE = { logsIn: (): number => 30 };
const ONE_RESPONSE = { responseBytesMax: 8_000 };

function refusing(method: string, answer: Scripted): ScriptedNode['script'] {
  return (call) => (call.method === method ? answer : undefined);
}

describe('a block whose receipts one response cannot hold', () => {
  test('is read receipt by receipt, and the upstream stays healthy', async () => {
    const one = await node(100, LARGE);
    const pool = await startedPool([one], { limits: ONE_RESPONSE });
    const whole = await pool.getWholeBlock(50);
    expect(whole?.value.receipts.map(({ transactionIndex }) => transactionIndex)).toEqual([...Array(10).keys()]);
    expect(whole?.value.receipts.flatMap(({ logs }) => logs)).toHaveLength(30);
    expect(one.count('eth_getTransactionReceipt')).toBe(10);
    expect(Object.keys(faultsOf(pool, one.name))).toEqual(['range-limit']);
    expect(pool.status()[0]).toMatchObject({ state: 'healthy' });
  });

  test.each<[string, Scripted]>([
    ['refuses its size', { error: { code: -32000, message: 'response size exceeded 10485760 bytes' } }],
    ['answers HTTP 413', { http: { status: 413, body: 'Payload Too Large' } }],
    ['breaks the connection', 'disconnect'],
    [
      'cuts the answer off',
      { http: { status: 200, body: '{"jsonrpc":"2.0","id":0,"result":[{"transactionHash":"0x' } },
    ],
  ])('is read receipt by receipt from an upstream that %s', async (_what, answer) => {
    const one = await node(100, LARGE);
    const pool = await startedPool([one]);
    one.script = refusing('eth_getBlockReceipts', answer);
    for (const number of [50, 51, 52])
      expect((await pool.getWholeBlock(number))?.value.receipts).toHaveLength(10);
    expect(pool.status()[0]?.state).toBe('healthy');
  });

  test('is refused above the limit of a block, once by each upstream', async () => {
    const nodes = [await node(100, LARGE), await node(100, LARGE)];
    const pool = await startedPool(nodes, { limits: { ...ONE_RESPONSE, blockBytesMax: 12_000 } });
    expect(await errorOf(pool.getWholeBlock(50))).toMatchObject({
      code: 'BLOCK_TOO_LARGE',
      facts: { block: 50 },
    });
    for (const { count } of nodes) {
      expect(count('eth_getTransactionReceipt')).toBeGreaterThan(0);
      expect(count('eth_getTransactionReceipt')).toBeLessThanOrEqual(10);
    }
    expect(pool.status().map(({ state }) => state)).toEqual(['healthy', 'healthy']);
  });

  test('is refused above the limit of the caller before any part is read', async () => {
    const one = await node(100, LARGE);
    const pool = await startedPool([one]);
    expect(await errorOf(pool.getWholeBlock(50, { bytesMax: 8_000 }))).toMatchObject({ code: 'BLOCK_TOO_LARGE' });
    expect(one.count('eth_getTransactionReceipt')).toBe(0);
    expect((await pool.getWholeBlock(50))?.value.receipts).toHaveLength(10);
  });

  test('may have one receipt that is larger than a response', async () => {
    const one = await node(100, { logsIn: () => 3 });
    const pool = await startedPool([one], { limits: { responseBytesMax: 1_900 } });
    const whole = await pool.getWholeBlock(50);
    expect(whole?.value.receipts.flatMap(({ logs }) => logs)).toHaveLength(3);
  });
});

test('a block that is known to be large is read first, and then its receipts', async () => {
  const one = await node(100, LARGE);
  const pool = await startedPool([one]);
  const ofBlock = (): number[] =>
    one.received.filter(({ method }) => /Receipts|ByNumber/.test(method)).map(({ batch }) => batch);
  const before = ofBlock().length;
  expect((await pool.getWholeBlock(50, { isLarge: true }))?.value.receipts).toHaveLength(10);
  expect(ofBlock().slice(before)).toEqual([1, 1]);
});

test('transactions that one response cannot hold are read one by one', async () => {
  const one = await node(100, LARGE);
  const pool = await startedPool([one]);
  one.script = ({ method, params }) => {
    if (method === 'eth_getTransactionByHash') return { result: { hash: params[0], type: '0x2' } };
    const isFull = method === 'eth_getBlockByNumber' && params[1] === true;
    return isFull ? { error: { code: -32008, message: 'Response is too big' } } : undefined;
  };
  const { block } = (await pool.getWholeBlock(50, { transactions: true }))?.value ?? {};
  expect(block?.transactions?.map(({ hash }) => hash)).toEqual(block?.transactionHashes);
  expect(block?.transactions).toHaveLength(10);
});

test('logs of several blocks above the limit of the caller are refused, and those of one block are not', async () => {
  const one = await node(100, LARGE);
  const pool = await startedPool([one], { limits: WIDE });
  const logsOf = (from: number, to: number) =>
    pool.getLogs({ range: { from, to }, topics: [TOPIC] }, { bytesMax: 9_000 });
  expect(await errorOf(logsOf(10, 20))).toMatchObject({ code: 'RANGE_TOO_LARGE', facts: { from: 10, to: 20 } });
  expect((await logsOf(10, 10)).logs).toHaveLength(30);
});

test('logs of a block whose connections always break are read from its receipts', async () => {
  const one = await node(100, LARGE);
  const pool = await startedPool([one], { limits: WIDE });
  one.script = onLogs(() => 'disconnect');
  expect((await pool.getLogs({ range: { from: 10, to: 10 }, topics: [TOPIC] })).logs).toHaveLength(30);
});

test('a block whose logs the upstream refuses is read from its receipts, alone if the caller has a limit', async () => {
  const one = await node(100, LARGE);
  const pool = await startedPool([one], { limits: WIDE });
  one.script = onLogs(() => ({ error: { code: -32005, message: 'query returned more than 10000 results' } }));
  const logsOf = (from: number, to: number) =>
    pool.getLogs({ range: { from, to }, topics: [TOPIC] }, { bytesMax: 9_000_000 });
  const before = one.count('eth_getBlockReceipts');
  expect(await errorOf(logsOf(10, 11))).toMatchObject({ code: 'RANGE_TOO_LARGE' });
  expect(one.count('eth_getBlockReceipts')).toBe(before);
  expect((await logsOf(10, 10)).logs).toHaveLength(30);
  expect((await pool.getLogs({ range: { from: 10, to: 12 }, topics: [TOPIC] })).logs).toHaveLength(90);
});

test('large responses are admitted in their order', () => {
  const places = new LargeResponses(1);
  const admitted: number[] = [];
  const [first, second, third] = [0, 1, 2].map((index) => ({ admitted: () => void admitted.push(index) }));
  if (first === undefined || second === undefined || third === undefined) throw new Error('too few');
  expect([first, second, third].map((response) => places.enter(response))).toEqual([true, false, false]);
  places.leave(second);
  places.leave(first);
  expect(admitted).toEqual([2]);
});
