/** The line between an ingest and its database falls silent, without a notice to either: another ingest takes the chain over. */
import { type Logger, silentLogger, systemClock } from '@chainstead/core';
import { openDatabase } from '@chainstead/db/server';
import { openSilentLine } from '@chainstead/testkit';
import { describe, vi } from 'vitest';
import { type Indexer, waitUntil } from './indexed-chain.ts';
import { expectTruth, untilIndexed } from './indexed-tables.ts';
import { stagedTest } from './stage.ts';

/** A lease, the poll of the process that stands by, and a transaction that the silent one may have left open. */
const TAKEOVER_MS = 100_000;
async function measured(indexer: Indexer, name: 'leader' | 'standby' | 'blocks'): Promise<number> {
  return (await indexer.metrics[name].get()).values.reduce((sum, { value }) => sum + value, 0);
}

function loggedCodes(warn: { readonly mock: { readonly calls: readonly (readonly unknown[])[] } }): unknown[] {
  return warn.mock.calls.map(([fields]) => (fields as { code?: unknown }).code);
}

describe('a leader whose line to the database falls silent', () => {
  stagedTest('is replaced, says so, and never commits again', async ({ stage, expect }) => {
    const { chain, facts, scratch } = stage;
    const direct = new URL(scratch.url);
    const line = await openSilentLine({ host: direct.hostname, port: Number(direct.port) });
    stage.closeLater(() => line.close());
    const through = new URL(scratch.url);
    through.port = String(line.port);
    const cutOff = openDatabase({
      url: through.href,
      applicationName: 'chainstead cut off',
      logger: silentLogger(),
    });
    stage.closeLater(() => cutOff.close());
    const node = await stage.serve({ latencyMs: 1 });
    const logger: Logger = silentLogger();
    const warn = vi.spyOn(logger, 'warn');
    const info = vi.spyOn(logger, 'info');
    const first = await stage.index([node], { database: cutOff, clock: systemClock, logger });
    await untilIndexed(scratch.database, facts, chain);
    const second = await stage.index([node], { clock: systemClock });
    await waitUntil(async () =>
      (await measured(second, 'standby')) === 1 ? null : 'the second one does not stand by',
    );

    line.fallSilent();
    const committed = await measured(first, 'blocks');
    chain.mine(10);
    await waitUntil(
      async () => ((await measured(second, 'leader')) === 1 ? null : 'the second one does not lead'),
      TAKEOVER_MS,
    );
    expect(await measured(first, 'leader')).toBe(0);
    await waitUntil(() => (loggedCodes(warn).includes('LEADERSHIP_LOST') ? null : 'the loss is not logged'));
    expect(loggedCodes(warn)).not.toContain('REQUEST_ABORTED');
    chain.mine(10);
    await untilIndexed(scratch.database, facts, chain, { timeoutMs: TAKEOVER_MS });

    line.resume();
    await waitUntil(
      async () => ((await measured(first, 'standby')) === 1 ? null : 'the first one does not stand by'),
      TAKEOVER_MS,
    );
    expect(info).toHaveBeenCalledWith(
      expect.objectContaining({ leader: expect.stringContaining(`process ${process.pid}`) }),
      'Standing by: another process leads the chain',
    );
    chain.mine(5);
    await untilIndexed(scratch.database, facts, chain);
    await expectTruth(scratch.database, facts, chain);
    expect(await measured(first, 'blocks')).toBe(committed);
  });
});
