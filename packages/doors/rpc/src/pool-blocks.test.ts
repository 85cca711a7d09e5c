import { describe, expect, test } from 'vitest';
import { blockHash, type Received, type Scripted, type ScriptedNode } from './testing/scripted-node.ts';
import { errorOf, faultsOf, node, startedPool } from './testing/test-pool.ts';

const SIX = { logsIn: (): number => 6 };

function on(method: string, answer: (call: Received) => Scripted | undefined): ScriptedNode['script'] {
  return (call) => (call.method === method ? answer(call) : undefined);
}

describe('getBlock', () => {
  test('gives a block by number or hash, with hashes or whole transactions', async () => {
    const one = await node(100, SIX);
    const pool = await startedPool([one]);
    const byNumber = await pool.getBlock(50);
    expect(byNumber?.value.header).toMatchObject({
      number: 50,
      hash: blockHash(SIX, 50),
      parentHash: blockHash(SIX, 49),
    });
    expect(byNumber?.value.transactions).toBeNull();
    const byHash = await pool.getBlock(blockHash(SIX, 50), { transactions: true });
    expect(byHash?.value.transactionHashes).toEqual(byNumber?.value.transactionHashes);
    expect(byHash?.value.transactions).toHaveLength(2);
  });

  test('is null for a block that nobody has reached, and for an unknown hash', async () => {
    const one = await node(100);
    const two = await node(90);
    const pool = await startedPool([one, two]);
    expect(await pool.getBlock(101)).toBeNull();
    expect(await pool.getBlock(blockHash({ fork: { from: 0, name: 'other' } }, 50))).toBeNull();
    expect(faultsOf(pool, one.name)).toEqual({});
  });

  test('asks another upstream when one answers null for a block that it has announced, and counts it', async () => {
    const liar = await node(100);
    const well = await node(100);
    const pool = await startedPool([liar, well]);
    liar.script = on('eth_getBlockByNumber', () => ({ result: null }));
    for (let call = 0; call < 4; call++) expect((await pool.getBlock(99))?.upstream).toBe(well.name);
    expect(await pool.getBlock(99, { only: liar.name })).toBeNull();
    expect(faultsOf(pool, liar.name)['missing-block']).toBeGreaterThan(0);
  });

  test('waits for a load-balanced node that lacks a new block for a moment', async () => {
    const one = await node(100);
    const pool = await startedPool([one]);
    let nulls = 2;
    one.script = on('eth_getBlockByNumber', () => (nulls-- > 0 ? { result: null } : undefined));
    expect((await pool.getBlock(100))?.value.header.number).toBe(100);
  });

  test('is no null while an upstream that may have it is only out of reach', async () => {
    const gone = await node(100);
    const liar = await node(100);
    const pool = await startedPool([gone, liar], { limits: { deadlineMs: 600 } });
    gone.script = () => 'disconnect';
    liar.script = on('eth_getBlockByNumber', () => ({ result: null }));
    expect(await errorOf(pool.getBlock(100))).toMatchObject({ code: 'UPSTREAMS_EXHAUSTED' });
  });

  test('refuses another block than the one asked for', async () => {
    const liar = await node(100);
    const well = await node(100);
    const pool = await startedPool([liar, well]);
    const wrong = (await pool.request('eth_getBlockByNumber', ['0x30', false])).value;
    liar.script = on('eth_getBlockByNumber', () => ({ result: wrong }));
    for (let call = 0; call < 4; call++) expect((await pool.getBlock(80))?.upstream).toBe(well.name);
    await errorOf(pool.getBlock(80, { only: liar.name }));
    expect(faultsOf(pool, liar.name).malformed).toBeGreaterThan(0);
  });
});

describe('transactions that are null', () => {
  const EMPTY = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

  test.each([
    ['are none where the root says so', EMPTY, 0],
    ['are a fault elsewhere', `0x${'12'.repeat(32)}`, null],
  ])('%s', async (_what, transactionsRoot, count) => {
    const one = await node(100);
    const pool = await startedPool([one]);
    const block = (await pool.request('eth_getBlockByNumber', ['0x32', false])).value as object;
    const answered = { ...block, transactions: null, transactionsRoot };
    one.script = on('eth_getBlockByNumber', () => ({ result: answered }));
    const found = pool.getBlock(50).then((answer) => answer?.value.transactionHashes.length);
    if (count === null) await expect(found).rejects.toThrow(/no list of transactions/);
    else expect(await found).toBe(count);
  });
});

describe('getHeaders', () => {
  test('gives many in the order asked, in batches', async () => {
    const one = await node(1_000);
    const pool = await startedPool([one]);
    const numbers = Array.from({ length: 150 }, (_, index) => 900 - index * 3);
    const before = one.received.length;
    const headers = await pool.getHeaders(numbers);
    expect(headers.map(({ value }) => value.number)).toEqual(numbers);
    expect(headers[0]?.value.raw).not.toHaveProperty('transactions');
    const sizes = one.received.slice(before).map(({ batch }) => batch);
    expect(Math.min(...sizes)).toBeGreaterThan(5);
  });

  test('asks only the failed elements of a batch again, elsewhere', async () => {
    const throttling = await node(1_000);
    const slow = await node(1_000);
    slow.script = () => new Promise((resolve) => setTimeout(resolve, 40, undefined));
    const pool = await startedPool([throttling, slow]);
    throttling.script = on('eth_getBlockByNumber', ({ params }) =>
      Number(params[0]) % 2 === 1
        ? { error: { code: 429, message: 'exceeded its compute units per second capacity' } }
        : undefined,
    );
    slow.script = () => undefined;
    const before = slow.received.length;
    const headers = await pool.getHeaders([0, 1, 2, 3, 4, 5]);
    expect(headers.map(({ value }) => value.number)).toEqual([0, 1, 2, 3, 4, 5]);
    const requested = slow.received.slice(before).filter(({ method }) => method === 'eth_getBlockByNumber');
    expect(requested.map(({ params }) => params[0])).toEqual(['0x1', '0x3', '0x5']);
  });

  test('keeps what was right beside a broken element', async () => {
    const one = await node(1_000);
    const pool = await startedPool([one]);
    let broken = 1;
    one.script = on('eth_getBlockByNumber', ({ params }) =>
      params[0] === '0x3' && broken-- > 0 ? { result: { number: '0x3' } } : undefined,
    );
    expect(await pool.getHeaders([1, 2, 3, 4])).toHaveLength(4);
    expect(one.received.filter(({ params }) => params[0] === '0x4')).toHaveLength(1);
    expect(faultsOf(pool, one.name)).toEqual({ malformed: 1 });
  });

  test('learns how many calls a batch may hold', async () => {
    const one = await node(1_000);
    const pool = await startedPool([one]);
    one.script = ({ batch }) =>
      batch > 3
        ? {
            http: {
              status: 500,
              body: '{"error":{"code":31,"message":"Batch of more than 3 requests are not allowed on free tier"}}',
            },
          }
        : undefined;
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    expect(await pool.getHeaders(numbers)).toHaveLength(60);
    const before = one.received.length;
    expect(await pool.getHeaders(numbers)).toHaveLength(60);
    const later = one.received.slice(before);
    expect(later.filter(({ batch }) => batch > 3).length).toBeLessThanOrEqual(later.length / 4);
  });

  test('works where batches are refused', async () => {
    const one = await node(1_000);
    one.batches = false;
    const pool = await startedPool([one]);
    expect(await pool.getHeaders([5, 6, 7])).toHaveLength(3);
    expect(one.received.every(({ batch }) => batch === 1)).toBe(true);
  });
});

describe('receipts', () => {
  test('of a block come in its order, in one call', async () => {
    const one = await node(100, SIX);
    const pool = await startedPool([one]);
    const block = (await pool.getBlock(50))?.value;
    if (block === undefined) throw new Error('no block');
    one.script = on('eth_getBlockReceipts', () => undefined);
    const { value } = await pool.getReceipts(block);
    expect(value.map((receipt) => receipt.transactionHash)).toEqual(block.transactionHashes);
    expect(value.flatMap((receipt) => receipt.logs)).toHaveLength(6);
  });

  test('are read one by one where eth_getBlockReceipts is not served', async () => {
    const one = await node(100, SIX);
    one.script = on('eth_getBlockReceipts', () => ({
      error: { code: -32601, message: 'the method eth_getBlockReceipts does not exist/is not available' },
    }));
    const pool = await startedPool([one]);
    const whole = await pool.getWholeBlock(50);
    expect(whole?.value.receipts).toHaveLength(2);
    expect(one.count('eth_getTransactionReceipt')).toBe(2);
    expect(one.count('eth_getBlockReceipts')).toBe(1);
    expect(pool.status()[0]?.capabilities.blockReceipts).toBe(false);
  });

  test('that a node left out of its list are fetched alone', async () => {
    const one = await node(100, SIX);
    const pool = await startedPool([one]);
    const all = (await pool.request('eth_getBlockReceipts', ['0x32'])).value as unknown[];
    one.script = on('eth_getBlockReceipts', () => ({ result: [all[0], null, all[0]] }));
    const whole = await pool.getWholeBlock(50);
    expect(whole?.value.receipts.map((receipt) => receipt.transactionIndex)).toEqual([0, 1]);
  });

  test.each<[string, (all: Record<string, unknown>[]) => unknown]>([
    [
      'receipts of another block',
      (all) => all.map((receipt) => ({ ...receipt, blockHash: `0x${'77'.repeat(32)}` })),
    ],
    [
      'the receipt of an unknown transaction',
      (all) => [...all, { ...all[0], transactionHash: `0x${'77'.repeat(32)}` }],
    ],
    ['exchanged indexes', (all) => all.map((receipt) => ({ ...receipt, transactionIndex: '0x5' }))],
    ['a log of another transaction', (all) => all.map((receipt) => ({ ...receipt, logs: all[0]?.logs }))],
    ['no list', () => ({})],
  ])('%s: another upstream is asked, and it is counted', async (_what, answer) => {
    const liar = await node(100, SIX);
    const well = await node(100, SIX);
    const pool = await startedPool([liar, well]);
    const all = (await pool.request('eth_getBlockReceipts', ['0x32'])).value as Record<string, unknown>[];
    liar.script = on('eth_getBlockReceipts', () => ({ result: answer(all) }));
    for (let call = 0; call < 4; call++) expect((await pool.getWholeBlock(50))?.upstream).toBe(well.name);
    expect(await errorOf(pool.getWholeBlock(50, { only: liar.name }))).toMatchObject({
      code: 'UPSTREAMS_EXHAUSTED',
    });
    const faults = faultsOf(pool, liar.name);
    expect((faults.malformed ?? 0) + (faults['missing-block'] ?? 0)).toBeGreaterThan(0);
  });

  test.each([
    ['[]', []],
    ['null', null],
  ])(
    '%s for a block with transactions: another upstream is asked, and without one, each receipt',
    async (_what, result) => {
      const odd = await node(100, SIX);
      const well = await node(100, SIX);
      const pool = await startedPool([odd, well]);
      odd.script = on('eth_getBlockReceipts', () => ({ result }));
      for (let call = 0; call < 4; call++) expect((await pool.getWholeBlock(50))?.upstream).toBe(well.name);
      expect((await pool.getWholeBlock(50, { only: odd.name }))?.value.receipts).toHaveLength(2);
      expect(faultsOf(pool, odd.name)['missing-block']).toBeGreaterThan(0);
      expect(pool.status().find(({ name }) => name === odd.name)?.capabilities.blockReceipts).toBe(false);
    },
  );

  test('null for a block without transactions is no receipts', async () => {
    const one = await node(100, { logsIn: () => 0 });
    const pool = await startedPool([one]);
    one.script = on('eth_getBlockReceipts', () => ({ result: null }));
    expect((await pool.getWholeBlock(51))?.value.receipts).toEqual([]);
    expect(faultsOf(pool, one.name)).toEqual({});
  });

  test('without a list are refused where nothing says that there are none', async () => {
    const one = await node(100, { ...SIX, bloomIn: () => `0x${'ff'.repeat(256)}` });
    const pool = await startedPool([one], { chain: { receiptsRoot: 'none' } });
    const all = (await pool.request('eth_getBlockReceipts', ['0x32'])).value as object[];
    const withoutLogs = (more: object): void => {
      one.script = on('eth_getBlockReceipts', () => ({
        result: all.map((receipt) => ({ ...receipt, ...more, logs: null })),
      }));
    };
    withoutLogs({});
    await expect(pool.getWholeBlock(50)).rejects.toThrow(/null/);
    withoutLogs({ logsBloom: `0x${'00'.repeat(256)}` });
    expect((await pool.getWholeBlock(50))?.value.receipts.flatMap(({ logs }) => logs)).toEqual([]);
  });

  test('are asked by hash when the height holds another block by now', async () => {
    const forked = { ...SIX, fork: { from: 50, name: 'new' } };
    const old = await node(100, SIX);
    const one = await node(100, forked);
    const pool = await startedPool([one]);
    const other = await startedPool([old]);
    const block = (await other.getBlock(50))?.value;
    if (block === undefined) throw new Error('no block');
    const receipts = (await other.getReceipts(block)).value.map(({ raw }) => raw);
    one.script = on('eth_getBlockReceipts', ({ params }) =>
      params[0] === block.header.hash ? { result: receipts } : undefined,
    );
    expect((await pool.getReceipts(block)).value).toHaveLength(2);
  });

  test('whole blocks take one round trip where batches are served', async () => {
    const one = await node(100, SIX);
    const pool = await startedPool([one]);
    const before = one.received.length;
    const whole = await pool.getWholeBlock(50, { transactions: true });
    expect(whole?.value.block.transactions).toHaveLength(2);
    expect(one.received.slice(before).map(({ method, batch }) => [method, batch])).toEqual([
      ['eth_getBlockByNumber', 2],
      ['eth_getBlockReceipts', 2],
    ]);
    expect(await pool.getWholeBlock(101)).toBeNull();
    expect((await pool.getWholeBlock(blockHash(SIX, 50)))?.value.block.header.number).toBe(50);
  });

  test('of a block named by hash are read by number where hashes are refused', async () => {
    const one = await node(100, SIX);
    const pool = await startedPool([one]);
    one.script = on('eth_getBlockReceipts', ({ params }) =>
      String(params[0]).length === 66 ? { error: { code: -32602, message: 'invalid params' } } : undefined,
    );
    expect((await pool.getWholeBlock(blockHash(SIX, 50)))?.value.receipts).toHaveLength(2);
  });
});
