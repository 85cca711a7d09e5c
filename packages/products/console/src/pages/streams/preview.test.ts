import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock, toQuantity } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createEnrichMatch } from '@chainstead/streams';
import { createScratchDatabase, createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { openStreamOperations } from '../../testing/open-stream-operations.ts';

const CHAIN_ID = 970_001;

async function open() {
  const registry = createChainRegistry({
    additional: [{ key: 'scripted', id: CHAIN_ID, confirmations: 4, pollIntervalMs: 10, headerHash: true }],
  });
  const chain = registry.get(CHAIN_ID);
  const scripted = createScriptedChain({ seed: 7, chainId: CHAIN_ID, wallets: 12 });
  scripted.mine(20);
  const node = await serveScriptedChain(scripted);
  const logger = silentLogger();
  const pool = createUpstreamPool({
    chain,
    upstreams: [{ url: node.url }],
    logger,
    metrics: createMetricsRegistry(),
  });
  await pool.start();
  const scratch = await createScratchDatabase();
  const { database } = scratch;
  const enrich = createEnrichMatch({ database, chain, pool, clock: systemClock, logger });
  const past = [{ chain, pool, policy: 'strict' as const, enrich }];
  const streams = openStreamOperations({ database, chains: [chain], past, registry });
  const stage = await openConsoleStage({ scratch, streams: streams.operations });
  onTestFinished(async () => {
    await stage.close();
    await streams.close();
    await pool.close();
    await node.close();
    await scratch.drop();
  });
  const visitor = await stage.signIn();
  const fields = {
    stream: '',
    webhookUrl: '',
    description: 'Preview',
    chainIds: toQuantity(CHAIN_ID),
    switches: 'includeNativeTxs',
    addresses: scripted.wallets.slice(0, 6).join('\n'),
    chain: toQuantity(CHAIN_ID),
    from: '1',
    to: '',
  };
  const preview = async (changes: Readonly<Record<string, string>>) => {
    const answer = await stage.post('/console/streams/form/preview', { ...fields, ...changes }, visitor);
    return { status: answer.status, text: await answer.text() };
  };
  return { preview, scripted, stage };
}

test('a preview shows the webhooks of a range with counts, and says what is not there', async () => {
  const { preview, scripted, stage } = await open();
  const { status, text } = await preview({ to: String(scripted.head) });
  expect(status).toBe(200);
  expect(text).toMatch(/<strong><data[^>]*>\d+<\/data> of <data[^>]*>\d+<\/data> blocks matched/);
  expect(text).toContain('&quot;confirmed&quot;:');
  expect(text).toMatch(/\d+<\/data> txs/);
  // The input is preserved, and nothing is saved or sent.
  expect(text).toContain(scripted.wallets[0]);
  expect(await stage.database.query(sql`SELECT id FROM streams`)).toEqual([]);
  expect(await stage.database.query(sql`SELECT id FROM stream_deliveries`)).toEqual([]);
  const beyond = await preview({ from: String(scripted.head + 5) });
  expect(beyond.text).toContain('is missing: no upstream of');
  expect(beyond.text).toContain('no block of it is indexed here yet');
  const none = await preview({ addresses: '' });
  expect(none.text).toContain('nothing matched');
});
