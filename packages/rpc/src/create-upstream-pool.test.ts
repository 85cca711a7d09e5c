import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { afterEach, expect, test } from 'vitest';
import { createUpstreamPool } from './create-upstream-pool.ts';
import { logsOf, type ScriptedChain, type ScriptedNode, startScriptedNode, testChain, TOPIC } from './testing/scripted-node.ts';

test('smoke', async () => {
  const n = await startScriptedNode(1000);
  const pool = createUpstreamPool({ chain: testChain(), upstreams: [{ url: n.url }], logger: silentLogger(), metrics: createMetricsRegistry() });
  await pool.start();
  expect(pool.status()).toBeDefined();
  expect(await pool.getHead()).toBeDefined();
  expect(await pool.getFinalized()).toBeDefined();
  const w = await pool.getWholeBlock(500);
  expect(w?.value.receipts.length).toBeDefined();
  expect((await pool.getLogs({ range: { from: 0, to: 1000 }, topics: [TOPIC] })).logs.length).toBeDefined();
  expect((await pool.getHeaders([1, 2, 3, 900])).length).toBeDefined();
  expect(await pool.getBlock(2000)).toBeDefined();
  await pool.close(); await n.close();
});
