import {
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { startLiveGateway } from '../testing/live-gateway.ts';
import type { ReportedLog } from '../testing/replayed-logs.ts';
import { openRpcSocket } from '../testing/rpc-socket.ts';

const CHAIN_ID = 7_250_001;

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  return () => scratch.drop();
});

test('a client hears that logs of blocks before its subscription are removed', async () => {
  const source = createScriptedChain({ seed: CHAIN_ID, chainId: CHAIN_ID, finalityDepth: null, emptyShare: 0 });
  source.mine(20);
  const node = await serveScriptedChain(source);
  onTestFinished(() => node.close());
  const gateway = await startLiveGateway({ database: scratch.database, chainId: CHAIN_ID, urls: [node.url] });
  const client = await openRpcSocket(gateway.webSocketUrl);
  const heads = await client.subscribe('newHeads');
  const before = (await gateway.call('eth_getLogs', [{ fromBlock: '0x11', toBlock: '0x14' }])) as ReportedLog[];
  expect(before.length).toBeGreaterThan(2);
  const { reported } = await client.subscribe('logs', {});
  source.reorg(4, 5);
  await expect.poll(() => heads.reported.length).toBe(5);
  const removed = (reported as ReportedLog[]).filter((log) => log.removed);
  expect(removed).toEqual(before.toReversed().map((log) => ({ ...log, removed: true })));
});

test('clients that subscribe at once share one read of earlier logs, and miss no block mined meanwhile', async () => {
  const chainId = CHAIN_ID + 1;
  const source = createScriptedChain({ seed: chainId, chainId, finalityDepth: null, emptyShare: 0 });
  source.mine(20);
  const [reads, mined] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let rangesRead = 0;
  const node = await serveScriptedChain(source, {
    methods: (_view, own) =>
      new Map([
        [
          'eth_getLogs',
          async (params) => {
            const [filter] = params as [{ readonly fromBlock?: string }];
            if (filter.fromBlock !== undefined) {
              rangesRead += 1;
              reads.resolve();
              await mined.promise;
            }
            return (await own.get('eth_getLogs')?.(params)) ?? { result: [] };
          },
        ],
      ]),
  });
  onTestFinished(() => node.close());
  const gateway = await startLiveGateway({ database: scratch.database, chainId, urls: [node.url] });
  const heads = await (await openRpcSocket(gateway.webSocketUrl)).subscribe('newHeads');
  const clients = await Promise.all(Array.from({ length: 3 }, () => openRpcSocket(gateway.webSocketUrl)));
  const asked = clients.flatMap((client) => Array.from({ length: 10 }, () => client.subscribe('logs', {})));
  await reads.promise;
  source.mine(1);
  await expect.poll(() => heads.reported.length).toBe(1);
  mined.resolve();
  const subscriptions = await Promise.all(asked);
  expect(rangesRead).toBe(1);
  const before = (await gateway.call('eth_getLogs', [{ fromBlock: '0x14', toBlock: '0x15' }])) as ReportedLog[];
  expect(new Set(before.map(({ blockNumber }) => blockNumber))).toEqual(new Set(['0x14', '0x15']));
  source.reorg(2, 3);
  await expect.poll(() => heads.reported.length).toBe(4);
  const expected = before.toReversed().map((log) => ({ ...log, removed: true }));
  for (const { reported } of subscriptions)
    await expect.poll(() => (reported as ReportedLog[]).filter((log) => log.removed)).toEqual(expected);
});

test('a client that leaves does not end the subscriptions of others', async () => {
  const chainId = CHAIN_ID + 2;
  const source = createScriptedChain({ seed: chainId, chainId, finalityDepth: null });
  source.mine(20);
  const node = await serveScriptedChain(source);
  onTestFinished(() => node.close());
  const gateway = await startLiveGateway({ database: scratch.database, chainId, urls: [node.url] });
  const [leaving, staying] = [
    await openRpcSocket(gateway.webSocketUrl),
    await openRpcSocket(gateway.webSocketUrl),
  ];
  const left = await leaving.subscribe('newHeads');
  const kept = await staying.subscribe('newHeads');
  expect(await leaving.call('eth_unsubscribe', [left.id])).toBe(true);
  source.mine(2);
  await expect.poll(() => kept.reported.length).toBe(2);
  expect(left.reported).toEqual([]);
});
