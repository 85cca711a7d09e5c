import { sql } from '@chainstead/db';
import { UpstreamsExhaustedError } from '@chainstead/rpc';
import type { RpcHandler } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { knowingFinality, openStage, type Stage, type StageOptions } from './testing/scripted-stage.ts';

const scratch = scratchOfFile();

/** Different in each test, so that tests don't share cached data. */
let chainId = 7_000_000;
beforeEach(() => {
  chainId++;
});

const ADDRESS = `0x${'11'.repeat(20)}`;
const UNKNOWN_HASH = `0x${'ab'.repeat(32)}`;
const PATIENCE = { timeout: 30_000 };

function open(options: Omit<StageOptions, 'database' | 'chainId'> = {}): Promise<Stage> {
  return openStage({ ...options, database: scratch.database, chainId });
}

const hex = (number: number): string => `0x${number.toString(16)}`;

describe('what the gateway knows itself', () => {
  test('chain id, network and client are answered at once, without an upstream', async () => {
    const stage = await open();
    const process = await stage.process();
    const before = stage.calls('eth_chainId');
    expect(await process.ask('eth_chainId')).toBe(hex(chainId));
    expect(await process.ask('net_version')).toBe(String(chainId));
    expect(await process.ask('web3_clientVersion')).toBe('chainstead/test');
    expect(process.outcome('eth_chainId')).toMatchObject({ ok: true, cached: true });
    expect(stage.calls('eth_chainId')).toBe(before);
  });
});

describe('kept answers', () => {
  test('a final block is answered from memory, and by other processes without an upstream', async () => {
    const stage = await open();
    const process = await stage.process();
    await knowingFinality(process, 3);
    await process.ask('eth_getBlockByNumber', ['0x3', false]);
    expect(process.outcome('eth_getBlockByNumber', ['0x03', false])).toMatchObject({ ok: true, cached: true });
    await process.close();
    const other = await stage.process();
    await knowingFinality(other, 4);
    const found = await other.outcome('eth_getBlockByNumber', ['0x3', false]);
    expect(found).toMatchObject({ ok: true, cached: true });
    const { hash } = stage.source.blockAt(3) ?? {};
    expect(await other.ask('eth_getBlockByNumber', ['0x3', false])).toMatchObject({ hash });
  });

  // Invariant: PROOF-SAME-CHAIN
  test('a final answer of a node that is on another chain for a while is not kept', async () => {
    const shown = { count: 0 };
    // The first response is for another chain.
    const methods = new Map<string, RpcHandler>([
      ['eth_getBalance', () => ({ result: shown.count++ === 0 ? '0xbad' : '0x5' })],
    ]);
    const stage = await open({ nodes: 2, methods });
    const process = await stage.process();
    await knowingFinality(process, 3);
    expect(await process.ask('eth_getBalance', [ADDRESS, '0x3'])).toBe('0xbad');
    await expect.poll(() => process.ask('eth_getBalance', [ADDRESS, '0x3']), PATIENCE).toBe('0x5');
    // The second upstream confirms it: other processes have it from the store.
    const kept = sql`SELECT FROM gateway_answers WHERE chain_id = ${chainId}`;
    await expect.poll(async () => (await scratch.database.query(kept)).length, PATIENCE).toBe(1);
    expect(shown.count).toBe(4);
    await process.close();
    const other = await stage.process();
    await knowingFinality(other, 4);
    expect(await other.ask('eth_getBalance', [ADDRESS, '0x3'])).toBe('0x5');
    expect(shown.count).toBe(4);
  });

  test('recent answers are gone with the head, final ones and those by hash stay', async () => {
    const stage = await open({ blocks: 30 });
    const process = await stage.process();
    await knowingFinality(process, 5);
    const orphan = stage.source.blockAt(30);
    const final = stage.source.blockAt(5);
    const shown = async (number: number): Promise<unknown> =>
      process.ask('eth_getBlockByNumber', [hex(number), false]);
    expect(await shown(30)).toMatchObject({ hash: orphan?.hash });
    expect(await process.ask('eth_getBlockByHash', [orphan?.hash, false])).toMatchObject({ number: '0x1e' });
    stage.source.reorg(3, 4);
    await expect.poll(() => shown(30), PATIENCE).toMatchObject({ hash: stage.source.blockAt(30)?.hash });
    expect(stage.source.blockAt(30)?.hash).not.toBe(orphan?.hash);
    expect(await shown(5)).toMatchObject({ hash: final?.hash });
    expect(await process.ask('eth_getBlockByHash', [orphan?.hash, false])).toMatchObject({ number: '0x1e' });
  });

  test('a receipt is kept for good once its block is final', async () => {
    const stage = await open({ blocks: 60 });
    const process = await stage.process();
    await knowingFinality(process, 5);
    const transactionIn = (from: number, to: number): string => {
      const block = stage.source.blocksIn({ from, to }).find(({ scripted }) => scripted.length > 0);
      return block?.scripted[0]?.hash ?? '';
    };
    const [old, recent] = [transactionIn(5, 40), transactionIn(55, 60)];
    for (const hash of [old, recent]) await process.ask('eth_getTransactionReceipt', [hash]);
    await process.close();
    const other = await stage.process();
    await knowingFinality(other, 4);
    expect(await other.outcome('eth_getTransactionReceipt', [old])).toMatchObject({ cached: true });
    expect(await other.outcome('eth_getTransactionReceipt', [recent])).toMatchObject({ cached: false });
  });

  test('logs of a final range are kept, logs up to the head are not', async () => {
    const stage = await open({ blocks: 60 });
    const process = await stage.process();
    await knowingFinality(process, 5);
    const final = [{ fromBlock: '0x1', toBlock: '0x14', address: [ADDRESS, `0x${'22'.repeat(20)}`] }];
    await process.ask('eth_getLogs', final);
    const twin = [{ address: [`0x${'22'.repeat(20)}`, ADDRESS], toBlock: '0x14', fromBlock: '0x01' }];
    expect(process.outcome('eth_getLogs', twin)).toMatchObject({ ok: true, cached: true });
    await process.ask('eth_getLogs', [{ fromBlock: '0x32', toBlock: 'latest' }]);
    expect(process.outcome('eth_getLogs', [{ fromBlock: '0x32', toBlock: 'latest' }])).toBeInstanceOf(Promise);
  });

  test('null and errors are asked for each time', async () => {
    const stage = await open({
      methods: new Map([
        ['eth_call', () => ({ error: { code: 3, message: 'execution reverted', data: '0x08' } })],
      ]),
    });
    const process = await stage.process();
    await knowingFinality(process, 3);
    const before = stage.calls('eth_call');
    for (let time = 1; time <= 2; time++) {
      expect(await process.ask('eth_getTransactionReceipt', [UNKNOWN_HASH])).toBeNull();
      expect(await process.outcome('eth_call', [{ to: ADDRESS }, '0x3'])).toEqual({
        ok: false,
        error: { code: 3, message: 'execution reverted', data: '0x08' },
      });
      expect(stage.calls('eth_call')).toBe(before + time);
      expect(stage.calls('eth_getTransactionReceipt')).toBeGreaterThanOrEqual(time);
    }
  });

  test('logs that are null are told as none, and asked for each time', async () => {
    const stage = await open({ blocks: 60, methods: new Map([['eth_getLogs', () => ({ result: null })]]) });
    const process = await stage.process();
    await knowingFinality(process, 5);
    const final = [{ fromBlock: '0x1', toBlock: '0x14', address: ADDRESS }];
    for (let time = 1; time <= 2; time++) {
      expect(await process.ask('eth_getLogs', final)).toEqual([]);
      // The second call checks whether another node has logs.
      expect(stage.calls('eth_getLogs')).toBe(2 * time);
    }
  });

  test('an estimate is never kept, a gas price until the next head', async () => {
    const stage = await open({ methods: new Map([['eth_estimateGas', () => ({ result: '0x5208' })]]) });
    const process = await stage.process();
    await knowingFinality(process, 3);
    for (let time = 1; time <= 2; time++) {
      await process.ask('eth_estimateGas', [{ to: ADDRESS }, '0x3']);
      expect(stage.calls('eth_estimateGas')).toBe(time);
    }
    await process.ask('eth_gasPrice');
    await expect.poll(() => process.outcome('eth_gasPrice') instanceof Promise, PATIENCE).toBe(true);
  });
});

describe('calls at the same time', () => {
  test('equal ones go out once', async () => {
    const stage = await open({ faults: { latencyMs: 30 } });
    const process = await stage.process();
    await knowingFinality(process, 3);
    const before = stage.calls('eth_getBalance');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => process.ask('eth_getBalance', [ADDRESS, '0x4'])),
    );
    expect(new Set(answers)).toEqual(new Set(['0x0']));
    expect(stage.calls('eth_getBalance') - before).toBe(1);
    expect(await process.metrics.metrics()).toContain(
      `chainstead_gateway_answers_total{chain="stage-${chainId}",method="eth_getBalance",outcome="coalesced"} 49`,
    );
  });

  test('of equal ones about the newest block, one is under way and one waits', async () => {
    const stage = await open({ faults: { latencyMs: 30 } });
    const process = await stage.process();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => process.ask('eth_getBalance', [ADDRESS, 'latest'])),
    );
    expect(new Set(answers)).toEqual(new Set(['0x0']));
    expect(stage.calls('eth_getBalance')).toBe(2);
  });

  test('the last caller who goes away ends the call', async () => {
    const stage = await open({ faults: { hangRate: 1, methods: ['eth_getBalance'] } });
    const signals: AbortSignal[] = [];
    const process = await stage.process({
      wrapForward: (forward) => (call, options) => {
        if (options?.signal !== undefined) signals.push(options.signal);
        return forward(call, options);
      },
    });
    const callers = [new AbortController(), new AbortController()];
    const requested = callers.map(({ signal }) =>
      process.outcome('eth_getBalance', [ADDRESS, '0x1'], process.scope(signal)),
    );
    await expect.poll(() => signals.length, PATIENCE).toBe(1);
    callers[0]?.abort();
    await requested[0];
    expect(signals[0]?.aborted).toBe(false);
    callers[1]?.abort();
    expect(await requested[1]).toMatchObject({ ok: false });
    expect(signals[0]?.aborted).toBe(true);
  });

  test('the same transaction sent twice at once is sent once, later again', async () => {
    const sent = `0x${'cd'.repeat(32)}`;
    const stage = await open({
      faults: { latencyMs: 20 },
      methods: new Map([['eth_sendRawTransaction', () => ({ result: sent })]]),
    });
    const process = await stage.process();
    const raw = '0x02f86b';
    const answers = await Promise.all([1, 2, 3].map(() => process.ask('eth_sendRawTransaction', [raw])));
    const once = stage.calls('eth_sendRawTransaction');
    expect([new Set(answers).size, once]).toEqual([1, 1]);
    await process.ask('eth_sendRawTransaction', [raw]);
    expect(stage.calls('eth_sendRawTransaction')).toBe(2);
  });
});

test('when no upstream answers, the client is told so, and not where they are', async () => {
  const stage = await open();
  const process = await stage.process({
    wrapForward: () => async (call) => {
      const failures = [{ upstream: 'secret.example', reason: 'connection: refused' }];
      throw new UpstreamsExhaustedError({ chain: 'stage', method: call.method, failures });
    },
  });
  const outcome = await process.outcome('eth_getBalance', [ADDRESS, '0x1']);
  expect(outcome).toMatchObject({ ok: false, error: { code: -32_603 } });
  expect(JSON.stringify(outcome)).not.toContain('secret');
});
