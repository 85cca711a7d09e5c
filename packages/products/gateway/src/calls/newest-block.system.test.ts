import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { openStage, type Stage, type StageOptions } from './testing/scripted-stage.ts';

const scratch = scratchOfFile();

/** Different in each test, so that tests don't share cached data. */
let chainId = 7_010_000;
beforeEach(() => {
  chainId++;
});

const ADDRESS = `0x${'11'.repeat(20)}`;
const PATIENCE = { timeout: 30_000 };

function open(options: Omit<StageOptions, 'database' | 'chainId'> = {}): Promise<Stage> {
  return openStage({ ...options, database: scratch.database, chainId });
}

function noting(requested: unknown[], at: unknown): { result: string } {
  requested.push(at);
  return { result: '0x01' };
}

describe('the newest block', () => {
  test('several upstreams: every tag of a request means the same number', async () => {
    const requested: unknown[] = [];
    const stage = await open({
      nodes: 2,
      methods: new Map([['eth_call', ([, at]) => noting(requested, at)]]),
    });
    const process = await stage.process();
    const scope = process.scope();
    expect(await process.ask('eth_blockNumber', [], scope)).toBe('0x14');
    stage.source.mine(2);
    await expect.poll(() => process.ask('eth_blockNumber'), PATIENCE).toBe('0x16');
    expect(await process.ask('eth_blockNumber', [], scope)).toBe('0x14');
    expect(await process.ask('eth_getBlockByNumber', ['latest', false], scope)).toMatchObject({ number: '0x14' });
    await process.ask('eth_call', [{ to: ADDRESS }], scope);
    await process.ask('eth_call', [{ to: ADDRESS }, 'finalized'], scope);
    // A slow call is also sent to the other node.
    expect([...new Set(requested)]).toEqual(['0x14', '0xa']);
  });

  test('several upstreams: one of them tells what waits, another only when that one is gone', async () => {
    const stage = await open({
      nodes: 3,
      methods: new Map([['eth_getTransactionCount', () => ({ result: '0x7' })]]),
    });
    const process = await stage.process();
    const requested = (): number[] =>
      stage.nodes.map(({ counters }) => counters.snapshot().calls.eth_getTransactionCount ?? 0);
    for (let call = 0; call < 12; call++)
      expect(await process.ask('eth_getTransactionCount', [ADDRESS, 'pending'])).toBe('0x7');
    expect(requested()).toEqual([12, 0, 0]);
    await stage.nodes[0]?.close();
    expect(await process.ask('eth_getTransactionCount', [ADDRESS, 'pending'])).toBe('0x7');
    expect(requested().slice(1)).not.toEqual([0, 0]);
  });

  test('several upstreams: logs from above the head on are asked for as the client wrote it', async () => {
    const requested: unknown[] = [];
    const stage = await open({
      nodes: 2,
      methods: new Map([
        [
          'eth_getLogs',
          ([filter]) => {
            requested.push(filter);
            return { result: [] };
          },
        ],
      ]),
    });
    const process = await stage.process();
    for (const above of [{ fromBlock: '0x15' }, { fromBlock: '0x400', toBlock: 'latest' }])
      expect(await process.ask('eth_getLogs', [above])).toEqual([]);
    await process.ask('eth_getLogs', [{ fromBlock: '0x14', toBlock: 'latest' }]);
    expect(requested).toEqual([
      { fromBlock: '0x15' },
      { fromBlock: '0x400', toBlock: 'latest' },
      { fromBlock: '0x14', toBlock: '0x14' },
    ]);
  });

  test('an EIP-1898 object means the member that is not null', async () => {
    const requested: unknown[] = [];
    const methods = new Map([['eth_call', ([, at]: readonly unknown[]) => noting(requested, at)]]);
    const hash = `0x${'0c'.repeat(32)}`;
    const byHash = { blockHash: hash, blockNumber: null };
    const latest = { blockHash: null, blockNumber: 'latest' };
    const several = await (await open({ nodes: 2, methods })).process();
    for (const at of [byHash, latest]) await several.ask('eth_call', [{ to: ADDRESS }, at]);
    // On a slow machine a second upstream may get the same call.
    const meant = new Set(requested.splice(0).map((at) => JSON.stringify(at)));
    expect(meant).toEqual(new Set([JSON.stringify(byHash), '"0x14"']));
    chainId++;
    const one = await (await open({ methods })).process();
    for (const at of [latest, latest, byHash, byHash]) await one.ask('eth_call', [{ to: ADDRESS }, at]);
    expect(requested).toEqual([latest, latest, byHash]);
  });

  test('several upstreams: `pending` is not asked of one that lags, however fast it is', async () => {
    const stage = await open({ nodes: 2 });
    const process = await stage.process();
    stage.nodes[0]?.faults.set({ lagBlocks: 5 });
    stage.source.mine(5);
    await expect.poll(() => process.ask('eth_blockNumber'), PATIENCE).toBe('0x19');
    const heads = new Set<unknown>();
    stage.nodes[1]?.faults.set({ latencyMs: 50 });
    for (let time = 0; time < 20; time++)
      heads.add(await process.ask('eth_getBlockByNumber', ['pending', false]));
    expect([...heads]).toEqual([...heads].map(() => expect.objectContaining({ number: '0x19' })));
  });

  test('one upstream: tags pass as they are', async () => {
    const requested: unknown[] = [];
    const stage = await open({
      methods: new Map([['eth_call', ([, at]) => noting(requested, at)]]),
    });
    const process = await stage.process();
    await process.ask('eth_call', [{ to: ADDRESS }, 'latest']);
    await process.ask('eth_call', [{ to: ADDRESS }, 'latest']);
    await process.ask('eth_call', [{ to: ADDRESS }, 'pending']);
    expect(requested).toEqual(['latest', 'latest', 'pending']);
    stage.source.mine();
    expect(await process.ask('eth_blockNumber')).toBe('0x15');
  });

  test('after a receipt, `latest` is not older than its block, in any process', async () => {
    const stage = await open({ nodes: 2 });
    const processes = await Promise.all([stage.process(), stage.process()]);
    for (const process of processes) await process.ask('eth_blockNumber');
    for (let round = 0; round < 10; round++) {
      const [block] = stage.source.mine();
      const hash = block?.hash;
      const seen = await processes[round % 2]?.ask('eth_getBlockByHash', [hash, false]);
      expect(seen).toMatchObject({ hash });
      expect(Number(await processes[(round + 1) % 2]?.ask('eth_blockNumber'))).toBeGreaterThanOrEqual(
        block?.number ?? 0,
      );
    }
  });
});
