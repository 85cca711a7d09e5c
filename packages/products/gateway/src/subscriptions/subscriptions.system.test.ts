import {
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../testing/live-gateway.ts';
import { keysOf, ReplayedLogs, type ReportedLog } from '../testing/replayed-logs.ts';
import { openRpcSocket } from '../testing/rpc-socket.ts';

const PATIENCE = { timeout: 30_000, interval: 10 };

let scratch: ScratchDatabase;
let chainId = 7_200_000;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  return () => scratch.drop();
});

interface Header {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
}

type Stage = Awaited<ReturnType<typeof stage>>;

async function stage(options: { readonly nodes?: number; readonly bufferBytesMax?: number } = {}) {
  chainId += 1;
  const source = createScriptedChain({ seed: chainId, chainId, finalityDepth: null });
  source.mine(20);
  const nodes = await Promise.all(Array.from({ length: options.nodes ?? 1 }, () => serveScriptedChain(source)));
  onTestFinished(async () => {
    for (const node of nodes) await node.close();
  });
  const { bufferBytesMax } = options;
  const gateway = await startLiveGateway({
    database: scratch.database,
    chainId,
    urls: nodes.map(({ url }) => url),
    ...(bufferBytesMax !== undefined && {
      limits: { sockets: { socketsMax: 100, socketsPerKey: 100, bufferBytesMax } },
    }),
  });
  const calls = (method: string): number =>
    nodes.reduce((sum, { counters }) => sum + (counters.snapshot().calls[method] ?? 0), 0);
  return { source, nodes, gateway, calls };
}

function hashAt({ source }: Pick<Stage, 'source'>, number = source.head): string {
  return source.blockAt(number)?.hash ?? '';
}

async function canonicalLogs(gateway: LiveGateway, filter: object): Promise<ReportedLog[]> {
  return (await gateway.call('eth_getLogs', [
    { ...filter, fromBlock: '0x0', toBlock: 'latest' },
  ])) as ReportedLog[];
}

describe('newHeads', () => {
  test('tells every block once, in order, also when the head jumps', async () => {
    const { source, gateway } = await stage();
    const client = await openRpcSocket(gateway.webSocketUrl);
    const { reported } = await client.subscribe('newHeads');
    for (const count of [1, 3, 1, 40]) {
      source.mine(count);
      await expect.poll(() => (reported.at(-1) as Header | undefined)?.hash, PATIENCE).toBe(hashAt({ source }));
    }
    const heads = reported as Header[];
    expect(heads.map(({ number }) => Number(number))).toEqual(
      Array.from({ length: 45 }, (_, index) => 21 + index),
    );
    for (const [index, head] of heads.entries())
      if (index > 0) expect(head.parentHash).toBe(heads[index - 1]?.hash);
    expect(heads[0]).not.toHaveProperty('transactions');
    expect(heads[0]).toMatchObject({ logsBloom: expect.any(String), gasLimit: expect.any(String) });
  });

  test('tells the new branch after a reorganisation', async () => {
    const { source, gateway } = await stage();
    const client = await openRpcSocket(gateway.webSocketUrl);
    const { reported } = await client.subscribe('newHeads');
    source.mine(2);
    await expect.poll(() => reported.length, PATIENCE).toBe(2);
    source.reorg(4, 6);
    await expect.poll(() => reported.length, PATIENCE).toBe(8);
    expect((reported as Header[]).slice(2).map(({ hash }) => hash)).toEqual(
      [19, 20, 21, 22, 23, 24].map((number) => hashAt({ source }, number)),
    );
  });

  test('goes on through upstreams that fail, without a gap', async () => {
    const { source, nodes, gateway } = await stage({ nodes: 2 });
    const client = await openRpcSocket(gateway.webSocketUrl);
    const { reported } = await client.subscribe('newHeads');
    const broken = { errorRate: 1, errorBodies: [{ code: -32_603, message: 'Internal error' }] };
    nodes[0]?.faults.set(broken);
    source.mine(3);
    await expect.poll(() => reported.length, PATIENCE).toBe(3);
    nodes[1]?.faults.set(broken);
    source.mine(3);
    nodes[0]?.faults.set({ errorRate: 0 });
    await expect.poll(() => reported.length, PATIENCE).toBe(6);
    expect((reported as Header[]).map(({ number }) => Number(number))).toEqual([21, 22, 23, 24, 25, 26]);
  });
});

describe('logs', () => {
  test('whatever the chain does, a client that replays what it is told has exactly the canonical logs', async () => {
    const moves = fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.record({ mine: fc.integer({ min: 1, max: 4 }) }) },
        {
          weight: 2,
          arbitrary: fc.record({ depth: fc.integer({ min: 1, max: 6 }), length: fc.integer({ min: 1, max: 7 }) }),
        },
      ),
      { minLength: 1, maxLength: 8 },
    );
    const { source, gateway } = await stage();
    const [token] = source.tokens;
    const filters = [
      {},
      { address: token?.address },
      { address: source.tokens.map(({ address }) => address), topics: [TRANSFER] },
    ];
    await fc.assert(
      fc.asyncProperty(moves, fc.boolean(), async (script, waits) => {
        const client = await openRpcSocket(gateway.webSocketUrl);
        const subscriptions = [];
        for (const filter of filters) {
          const known = await canonicalLogs(gateway, filter);
          const { reported } = await client.subscribe('logs', filter);
          subscriptions.push({ filter, reported, known });
        }
        const { reported: heads } = await client.subscribe('newHeads');
        for (const move of script) {
          if ('mine' in move) source.mine(move.mine);
          else source.reorg(move.depth, Math.max(move.depth, move.length));
          if (waits) await expect.poll(() => (heads.at(-1) as Header).hash, PATIENCE).toBe(hashAt({ source }));
        }
        source.mine(1);
        await expect.poll(() => (heads.at(-1) as Header | undefined)?.hash, PATIENCE).toBe(hashAt({ source }));
        for (const { filter, reported, known } of subscriptions) {
          const replayed = new ReplayedLogs(known);
          for (const log of reported as ReportedLog[]) replayed.take(log);
          expect(replayed.faults).toEqual([]);
          expect(replayed.keys).toEqual(keysOf(await canonicalLogs(gateway, filter)));
        }
        client.socket.close();
      }),
      { numRuns: 15 },
    );
  });

  test('are removed newest first before the new branch is told', async () => {
    const { source, gateway } = await stage();
    const client = await openRpcSocket(gateway.webSocketUrl);
    const { reported } = await client.subscribe('logs', {});
    source.mine(3);
    const logs = reported as ReportedLog[];
    const before = await canonicalLogs(gateway, {});
    const added = before.filter(({ blockNumber }) => Number(blockNumber) > 20);
    await expect.poll(() => keysOf(logs), PATIENCE).toEqual(keysOf(added));
    source.reorg(3);
    source.mine(1);
    const after = (await canonicalLogs(gateway, {})).filter(({ blockNumber }) => Number(blockNumber) > 20);
    await expect.poll(() => logs.length, PATIENCE).toBe(added.length * 2 + after.length);
    const removed = logs.slice(added.length, added.length * 2);
    expect(removed.every((log) => log.removed)).toBe(true);
    expect(removed.map(({ blockHash, logIndex }) => blockHash + logIndex)).toEqual(
      added.toReversed().map(({ blockHash, logIndex }) => blockHash + logIndex),
    );
    expect(logs.slice(-after.length)).toEqual(
      after.map((log) => expect.objectContaining({ ...log, removed: false })),
    );
  });

  test('of a block are read once for all who want them, and not at all without anybody', async () => {
    const { source, gateway, calls } = await stage();
    const clients = await Promise.all([1, 2, 3].map(() => openRpcSocket(gateway.webSocketUrl)));
    const subscriptions = [];
    for (const client of clients)
      for (let index = 0; index < 10; index += 1) subscriptions.push(await client.subscribe('logs', {}));
    const { reported: heads } = await (clients[0] ?? unreachable()).subscribe('newHeads');
    const before = [calls('eth_getLogs'), calls('eth_getBlockByHash')];
    source.mine(1);
    await expect.poll(() => heads.length, PATIENCE).toBe(1);
    expect([calls('eth_getLogs'), calls('eth_getBlockByHash')]).toEqual(before.map((count) => count + 1));
    for (const { reported } of subscriptions)
      await expect.poll(() => reported, PATIENCE).toEqual(subscriptions[0]?.reported);
    expect(await gateway.metrics.metrics()).toContain(
      'chainstead_gateway_subscriptions{chain="live",kind="logs"} 30',
    );
    for (const { socket } of clients) socket.close();
    await expect
      .poll(() => gateway.metrics.metrics(), PATIENCE)
      .toContain('chainstead_gateway_subscriptions{chain="live",kind="logs"} 0');
    const idle = calls('eth_getLogs');
    source.mine(2);
    await expect.poll(() => gateway.call('eth_blockNumber'), PATIENCE).toBe(`0x${source.head.toString(16)}`);
    expect(calls('eth_getLogs')).toBe(idle);
  });

  test('come from the receipts where a node does not give them by block', async () => {
    const { source, nodes, gateway } = await stage();
    const client = await openRpcSocket(gateway.webSocketUrl);
    const { reported } = await client.subscribe('logs', {});
    nodes[0]?.faults.set({ methods: ['eth_getLogs'], errorRate: 1 });
    source.mine(3);
    const expected = source
      .blocksIn({ from: 21, to: 23 })
      .flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs));
    await expect.poll(() => reported.length, PATIENCE).toBe(expected.length);
  });
});

describe('a subscription', () => {
  test('ends when it is asked to, and is not known twice or to another socket', async () => {
    const { source, gateway } = await stage();
    const [one, other] = [await openRpcSocket(gateway.webSocketUrl), await openRpcSocket(gateway.webSocketUrl)];
    const [first, second] = [await one.subscribe('newHeads'), await one.subscribe('newHeads')];
    await expect(other.call('eth_unsubscribe', [first.id])).rejects.toThrow('subscription not found');
    expect(await one.call('eth_unsubscribe', [first.id])).toBe(true);
    await expect(one.call('eth_unsubscribe', [first.id])).rejects.toThrow('subscription not found');
    source.mine(1);
    await expect.poll(() => second.reported.length, PATIENCE).toBe(1);
    expect(first.reported).toEqual([]);
  });

  test.each([
    [['logs', { topics: ['0x1'] }], 'topics'],
    [['newPendingTransactions', {}], 'must be true or false'],
    [['syncing'], 'no "syncing" subscription in eth namespace'],
    [[], 'missing value for required argument 0'],
  ])('to %j is refused: %s', async (params, message) => {
    const { gateway } = await stage();
    const client = await openRpcSocket(gateway.webSocketUrl);
    await expect(client.call('eth_subscribe', params)).rejects.toThrow(message);
  });

  test('is one of so many of a socket, and is not offered over HTTP', async () => {
    const { gateway } = await stage();
    const client = await openRpcSocket(gateway.webSocketUrl);
    for (let index = 0; index < 100; index += 1) await client.subscribe('newHeads');
    await expect(client.call('eth_subscribe', ['newHeads'])).rejects.toThrow('may have 100 subscriptions');
    await expect(gateway.call('eth_subscribe', ['newHeads'])).rejects.toThrow('needs a WebSocket');
  });

  test('of a client that does not read ends with the socket, and others go on', async () => {
    const { source, gateway } = await stage({ bufferBytesMax: 100_000 });
    const [slow, quick] = [await openRpcSocket(gateway.webSocketUrl), await openRpcSocket(gateway.webSocketUrl)];
    for (let index = 0; index < 100; index += 1) await slow.subscribe('newHeads');
    const { reported } = await quick.subscribe('newHeads');
    slow.socket.pause();
    const dropped = async () =>
      /ended_total{chain="live",reason="slow"} (\d+)/.exec(await gateway.metrics.metrics())?.[1];
    for (let round = 0; round < 200 && (await dropped()) === undefined; round += 1) {
      source.mine(10);
      await expect.poll(() => (reported.at(-1) as Header).hash, PATIENCE).toBe(hashAt({ source }));
    }
    expect(await dropped()).toBe('1');
    expect((reported as Header[]).map(({ number }) => Number(number))).toEqual(
      Array.from({ length: reported.length }, (_, index) => 21 + index),
    );
  }, 60_000);
});

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

function unreachable(): never {
  throw new Error('There is a first client');
}
