import type { Hash } from '@chainstead/core';
import { createHistorySources } from '@chainstead/sources';
import { openPortalSource } from '@chainstead/sources/open';
import { type ChainSource, servePortal, TRANSFER_TOPIC } from '@chainstead/testkit';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { expect, it, onTestFinished } from 'vitest';
import { openScriptedStage } from '../testing/scripted-stage.ts';
import { poolWithSources } from './pool-with-sources.ts';

const BLOCKS = 5_200;
const query = { topics: [TRANSFER_TOPIC as Hash] };
const scratch = scratchOfFile();
/** Mined once: that takes longer than the tests. */
const stage = stageOfFile(() =>
  openScriptedStage(scratch.database, 962_001, [], { blocks: BLOCKS, finalityDepth: 50 }),
);

async function joinPortal(served: Partial<ChainSource> = {}) {
  stage.node.counters.reset();
  const portal = await servePortal({ ...stage.scripted, finalized: BLOCKS - 50, ...served });
  onTestFinished(() => portal.close());
  const { chain, clock, logger, pool } = stage;
  const source = openPortalSource({ url: portal.url, chain, clock });
  const sources = createHistorySources({ chain, clock, logger, sources: [source] });
  onTestFinished(() => sources.close());
  return { portal, pool, joined: poolWithSources(pool, sources), sources };
}

it('reads logs of long ranges in one stream, and those of short ranges from nodes', async () => {
  const { pool, joined } = await joinPortal();
  const whole = { from: 1, to: BLOCKS - 50 };
  const read = await joined.getLogs({ ...query, range: whole });
  expect(read.calls).toBe(1);
  expect(read.sources).toEqual([{ range: whole, upstream: expect.stringMatching(/^portal /) }]);
  expect(stage.callsOf('eth_getLogs')).toBe(0);
  expect(read.logs).toEqual((await pool.getLogs({ ...query, range: whole })).logs);
  const calls = stage.callsOf('eth_getLogs');
  await joined.getLogs({ ...query, range: { from: 1, to: 100 } });
  expect(stage.callsOf('eth_getLogs')).toBe(calls + 1);
  expect(joined.estimateLogCalls(query, [whole])).toBe(1);
  await expect(joined.getLogs({ ...query, range: whole }, { bytesMax: 1_000 })).rejects.toMatchObject({
    code: 'RANGE_TOO_LARGE',
  });
});

it('names the source whose stream ended early, and then reads from nodes', async () => {
  const { portal, pool, joined } = await joinPortal();
  portal.faults.set({ pageBlocks: 1_000, cut: { rate: 1, afterLines: 0, where: 'connection' } });
  const range = { from: 1, to: BLOCKS };
  await expect(joined.getLogs({ ...query, range })).rejects.toMatchObject({ code: 'SOURCE_FAILED' });
  const read = await joined.getLogs({ ...query, range });
  expect(stage.callsOf('eth_getLogs')).toBeGreaterThan(0);
  expect(read.logs).toEqual((await pool.getLogs({ ...query, range })).logs);
});

it('reads from nodes the newest blocks, which the source does not have yet', async () => {
  const { pool, joined } = await joinPortal();
  const range = { from: 1, to: BLOCKS };
  await joined.getLogs({ ...query, range });
  const newest = { from: BLOCKS - 49, to: BLOCKS };
  expect(joined.estimateLogCalls(query, [range])).toBe(1 + pool.estimateLogCalls(query, [newest]));
  const calls = stage.callsOf('eth_getLogs');
  const read = await joined.getLogs({ ...query, range });
  expect(stage.callsOf('eth_getLogs')).toBe(calls + 1);
  expect(read.sources.map(({ range: { from, to } }) => [from, to])).toEqual([
    [1, BLOCKS - 50],
    [BLOCKS - 49, BLOCKS],
  ]);
  expect(read.logs).toEqual((await pool.getLogs({ ...query, range })).logs);
});

it('plans and reads with nodes at once if no source has the blocks', async () => {
  const { pool, joined, sources } = await joinPortal({ finalized: null });
  const range = { from: 1, to: BLOCKS - 50 };
  await sources.refresh('logs', range, new AbortController().signal);
  expect(joined.estimateLogCalls(query, [range])).toBe(pool.estimateLogCalls(query, [range]));
  const read = await joined.getLogs({ ...query, range });
  expect(stage.callsOf('eth_getLogs')).toBeGreaterThan(0);
  expect(read.logs).toEqual((await pool.getLogs({ ...query, range })).logs);
});
