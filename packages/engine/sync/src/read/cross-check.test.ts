import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { type ChainNode, createScriptedChain, type FaultSettings, serveScriptedChain } from '@chainstead/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { crossCheck } from './cross-check.ts';
import { readProvenBlock } from './proven-block.ts';

const CHAIN = createChainRegistry({ additional: [{ key: 'plain', id: 31_337, receiptsRoot: 'none' }] }).get(
  31_337,
);
const open: { pool?: UpstreamPool; nodes: ChainNode[] } = { nodes: [] };

afterEach(async () => {
  await open.pool?.close();
  await Promise.all(open.nodes.splice(0).map((node) => node.close()));
});

/** The first response comes from the first upstream, whichever one the pool prefers. */
async function check(...faults: Partial<FaultSettings>[]) {
  const chain = createScriptedChain({ seed: 5, emptyShare: 0 });
  chain.mine(20);
  open.nodes = await Promise.all(
    faults.map((one, index) => serveScriptedChain(chain, { faults: one, seed: index + 1 })),
  );
  open.pool = createUpstreamPool({
    chain: CHAIN,
    upstreams: open.nodes.map((node) => ({ url: node.url })),
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
  });
  await open.pool.start();
  const [first, ...others] = open.pool.status().map((upstream) => upstream.name);
  const reader = { pool: open.pool, chain: CHAIN, policy: 'record' as const };
  const block = await readProvenBlock(reader, 12, { exclude: new Set(others) });
  if (block === null || first === undefined) throw new Error('The first upstream did not answer');
  const truth = chain
    .blocksIn({ from: 12, to: 12 })
    .flatMap((one) => one.receipts.flatMap((receipt) => receipt.logs as unknown[]));
  return {
    checked: await crossCheck(reader, block),
    truth: truth.length,
    status: open.pool.status(),
  };
}

describe('crossCheck', () => {
  it('is cross when a second upstream agrees', async () => {
    const { checked } = await check({}, {});
    expect(checked.level).toBe('cross');
  });

  it('stays not-applicable when there is nobody else to ask', async () => {
    const { checked } = await check({});
    expect(checked.level).toBe('not-applicable');
  });

  it('is unproven when two disagree and no third decides', async () => {
    const { checked } = await check({ dropReceiptLogsRate: 0.5 }, {});
    expect(checked).toMatchObject({ level: 'unproven', reason: 'upstreams-disagree' });
  });

  it('takes the word of two against one, and names the one', async () => {
    const { checked, truth, status } = await check({ dropReceiptLogsRate: 0.5 }, {}, {});
    expect(checked.level).toBe('cross');
    expect(checked.logs).toHaveLength(truth);
    expect(status[0]?.faults['missing-logs']).toBe(1);
  });
});
