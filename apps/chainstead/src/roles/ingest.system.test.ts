import { type Clock, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type ChainStatus, readChainStatuses } from '@chainstead/sync/ingest';
import {
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { datasets } from '../datasets/index.ts';
import type { ProcessNumber } from '../shares/role-slot.ts';
import { startIngest } from './ingest.ts';
import type { RoleContext } from './role.ts';

/** On which long waits are short. */
const clock: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 500), signal),
};
const PATIENCE_MS = 25_000;
const GOOD = 1_337_011;
const BAD = 1_337_012;
let scratch: ScratchDatabase;

beforeEach(async () => {
  scratch = await createScratchDatabase();
});

afterEach(() => scratch?.drop());

async function serve(chainId: number) {
  const chain = createScriptedChain({ seed: chainId, chainId });
  chain.mine(80);
  const node = await serveScriptedChain(chain);
  onTestFinished(() => node.close());
  return { chain, node };
}

function contextOf(variables: Readonly<Record<string, string>>, place?: ProcessNumber): RoleContext {
  return {
    ...(place !== undefined && { place }),
    configuration: parseConfiguration([environmentSource(variables)]).configuration,
    database: scratch.database,
    databaseUrl: scratch.url,
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    clock,
  };
}

async function statusOf(chainId: number): Promise<ChainStatus | undefined> {
  return (await readChainStatuses(scratch.database, datasets, [])).find((status) => status.chainId === chainId);
}

describe('ingest', () => {
  it('says in status and metric why a chain cannot start, tries again, and goes on with the others', async () => {
    const good = await serve(GOOD);
    const bad = await serve(BAD);
    bad.node.faults.set({ wrongChainId: 5 });
    const context = contextOf({
      CHAINS: 'good,bad',
      CHAIN_ID_GOOD: String(GOOD),
      RPC_URLS_GOOD: good.node.url,
      POLL_INTERVAL_MS: '50',
      // Transactions of scripted chains have no signatures.
      ...{ SWAPS_GOOD: 'off', SWAPS_BAD: 'off' },
      CHAIN_ID_BAD: String(BAD),
      RPC_URLS_BAD: bad.node.url,
    });
    // It was ingested before, long ago.
    await scratch.database.query(
      sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, updated_at) VALUES (${BAD}, 80, 80, now() - interval '1 hour')`,
    );
    const role = await startIngest(context);
    try {
      await vi.waitFor(
        async () => expect((await statusOf(BAD))?.stallReason).toMatch(/wrong chain.*chain id 5/),
        PATIENCE_MS,
      );
      const reported = await statusOf(BAD);
      expect(reported?.updatedAt.getTime()).toBeLessThan(Date.now() - 3_000_000);
      const untilReported = (line: string): Promise<void> =>
        vi.waitFor(async () => expect(await context.metrics.metrics()).toContain(line), PATIENCE_MS);
      await untilReported('chainstead_sync_stalled{chain="bad"} 1');
      await vi.waitFor(async () => expect((await statusOf(GOOD))?.checkpoint).toBe(good.chain.head), PATIENCE_MS);
      bad.node.faults.clear();
      await vi.waitFor(async () => expect((await statusOf(BAD))?.checkpoint).toBe(bad.chain.head), PATIENCE_MS);
      await vi.waitFor(async () => expect((await statusOf(BAD))?.stallReason).toBeNull(), PATIENCE_MS);
      await untilReported('chainstead_sync_stalled{chain="bad"} 0');
    } finally {
      await role.stop();
    }
  });

  it('leaves the chains of other processes to them, and asks their nodes nothing', async () => {
    const [own, other] = [await serve(1_337_013), await serve(1_337_014)];
    const context = contextOf(
      {
        CHAINS: 'other,own',
        CHAIN_ID_OTHER: '1337014',
        RPC_URLS_OTHER: other.node.url,
        CHAIN_ID_OWN: '1337013',
        RPC_URLS_OWN: own.node.url,
        SWAPS_OWN: 'off',
        POLL_INTERVAL_MS: '50',
      },
      { number: 2, of: 2 },
    );
    const role = await startIngest(context);
    try {
      await vi.waitFor(
        async () => expect((await statusOf(1_337_013))?.checkpoint).toBe(own.chain.head),
        PATIENCE_MS,
      );
    } finally {
      await role.stop();
    }
    expect(await context.metrics.metrics()).not.toContain('chain="other"');
    expect(await statusOf(1_337_014)).toBeUndefined();
    expect(other.node.counters.httpRequests).toBe(0);
  });
});
