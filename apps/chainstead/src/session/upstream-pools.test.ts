import { createChainRegistry } from '@chainstead/chains';
import { type Clock, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { describe, expect, it } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { openPool, startPool } from './upstream-pools.ts';

const logger = silentLogger();
const chain = createChainRegistry().get('eth');

/** A pool whose start does what the test says; nothing is sent. */
function poolThatStarts(start: UpstreamPool['start']): UpstreamPool {
  const variables = { CHAINS: 'eth', RPC_URLS_ETH: 'http://127.0.0.1:9' };
  const [configured] = parseConfiguration([environmentSource(variables)]).configuration.chains;
  if (configured === undefined) throw new Error('The chain is missing');
  return { ...openPool(configured, { logger, metrics: createMetricsRegistry(), clock: systemClock }), start };
}

describe('startPool', () => {
  it('tries again, after a while, until an upstream can be used', async () => {
    let attempts = 0;
    const pool = poolThatStarts(async () => {
      attempts += 1;
      if (attempts < 3) throw new Error('Every upstream is on the wrong chain');
    });
    const waits: number[] = [];
    const clock: Clock = { now: () => 0, sleep: async (ms) => void waits.push(ms) };
    const reported: string[] = [];
    const onFailure = async (reason: string): Promise<void> => void reported.push(reason);
    const { signal } = new AbortController();
    expect(await startPool(pool, { chain, clock, logger, signal, onFailure })).toBe(true);
    expect(waits).toEqual([15_000, 15_000]);
    expect(reported).toEqual(['Every upstream is on the wrong chain', 'Every upstream is on the wrong chain']);
  });

  it('gives up at once when it is told to stop, whatever the upstream does', async () => {
    const pool = poolThatStarts(() => new Promise<void>(() => {}));
    const stop = new AbortController();
    const starting = startPool(pool, { chain, clock: systemClock, logger, signal: stop.signal });
    stop.abort();
    expect(await starting).toBe(false);
  });
});
