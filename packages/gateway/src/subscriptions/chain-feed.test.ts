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
