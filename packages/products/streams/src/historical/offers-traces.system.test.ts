import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createScriptedChain, serveScriptedChain, startDevnet } from '@chainstead/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createOffersTraces } from './past-block-services.ts';
import { ChainNotServedError } from './past-chain.ts';

const CHAIN_ID = 940_007;
const CHAIN = createChainRegistry({ additional: [{ key: 'requested', id: CHAIN_ID }] }).get(CHAIN_ID);

async function offersOf(url: string) {
  const logger = silentLogger();
  const pool = createUpstreamPool({
    chain: CHAIN,
    upstreams: [{ url }],
    logger,
    metrics: createMetricsRegistry(),
  });
  onTestFinished(() => pool.close());
  await pool.start();
  return createOffersTraces([{ chain: CHAIN, pool, policy: 'record' }]);
}

test('a node with traces offers them, and goes on to once it did', async () => {
  const devnet = await startDevnet({ chainId: CHAIN_ID });
  const offers = await offersOf(devnet.url);
  try {
    expect(await offers(CHAIN)).toBe(true);
  } finally {
    await devnet.stop();
  }
  expect(await offers(CHAIN)).toBe(true);
});

test('a node that knows neither form of them does not; while it is down, nothing speaks against it', async () => {
  const scripted = createScriptedChain({ seed: 5, chainId: CHAIN_ID });
  scripted.mine(3);
  const node = await serveScriptedChain(scripted, {});
  const offers = await offersOf(node.url);
  expect(await offers(CHAIN)).toBe(false);
  await node.close();
  expect(await offers(CHAIN)).toBe(true);
});

test('a chain that is not served is an error', async () => {
  await expect(createOffersTraces([])(CHAIN)).rejects.toThrow(ChainNotServedError);
});
