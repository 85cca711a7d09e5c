import { createFullnodeMetrics, createFullnodes } from '@chainstead/aptos';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { listWrongAnswers, readUpstreamCalls } from '@chainstead/sync/ingest';
import {
  createAptosLedger,
  createScriptedChain,
  exampleChain,
  serveScriptedChain,
  startAptosFullnode,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { openPool } from '../session/upstream-pools.ts';
import { keepUpstreamRecords, type UpstreamRecords } from './upstream-records.ts';

const chain = exampleChain({ id: 31_337, key: 'scripted' });

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`TRUNCATE upstream_calls, upstream_mismatches`));

/** A process of a role, with a pool. */
function startProcess(role: string, url: string) {
  const shared = { metrics: createMetricsRegistry(), logger: silentLogger(), clock: systemClock };
  const records: UpstreamRecords = keepUpstreamRecords({ ...shared, role, database: scratch.database });
  const { onWrongAnswer } = records;
  const pool = openPool({ chain, upstreams: [{ url }] }, { ...shared, onWrongAnswer });
  return { records, pool };
}

describe('records of upstreams', () => {
  it('add up what all processes asked, once, also what was asked last', async () => {
    const scripted = createScriptedChain({ seed: 3 });
    scripted.mine(10);
    const node = await serveScriptedChain(scripted);
    const [one, other] = [startProcess('ingest', node.url), startProcess('api', node.url)];
    for (const { pool } of [one, other]) await pool.start();
    const before = await callsOf();
    await one.records.flush();
    for (let call = 0; call < 5; call++) await one.pool.request('eth_gasPrice', []);
    for (let call = 0; call < 3; call++) await other.pool.getBlock(call);
    await one.records.flush();
    await one.records.flush();
    for (const { pool, records } of [one, other]) {
      await pool.close();
      await records.close();
    }
    const rows = await readUpstreamCalls(scratch.database, 1);
    expect(before).toBe(0);
    expect(new Set(rows.map(({ role }) => role))).toEqual(new Set(['ingest', 'api']));
    const host = new URL(node.url).host;
    expect(rows.every((row) => row.chain === 'scripted' && row.upstream === host)).toBe(true);
    const ok = rows.find((row) => row.role === 'api' && row.outcome === 'ok');
    expect(ok?.calls).toBeGreaterThanOrEqual(3);
    expect(ok?.recent.calls).toBe(ok?.calls);
    expect(ok?.latency.reduce((sum, answers) => sum + answers, 0)).toBeGreaterThan(0);
    expect(ok?.recent.ms).toBeGreaterThanOrEqual(600_000);
    // What was written once is not written again.
    expect(await callsOf()).toBe(rows.reduce((sum, { calls }) => sum + calls, 0));
    await node.close();
  });

  it('add up what fails again and again within the same minutes', async () => {
    const node = await serveScriptedChain(createScriptedChain({ seed: 3 }));
    const { records, pool } = startProcess('ingest', node.url);
    await pool.start();
    for (let failed = 1; failed <= 3; failed++) {
      await expect(pool.request('eth_getBlockByNumber', ['no number', false])).rejects.toThrow();
      await records.flush();
      const errors = (await readUpstreamCalls(scratch.database, 1)).filter(({ outcome }) => outcome === 'error');
      expect(errors).toMatchObject([{ calls: failed, busyMs: 0, latency: [] }]);
    }
    await pool.close();
    await records.close();
    await node.close();
  });

  async function callsOf(): Promise<number> {
    return (await readUpstreamCalls(scratch.database, 1)).reduce((sum, { calls }) => sum + calls, 0);
  }

  it('add up calls of fullnodes of Aptos too, with their times', async () => {
    const fullnode = await startAptosFullnode(createAptosLedger({ transactions: [], head: 50 }));
    const shared = { metrics: createMetricsRegistry(), logger: silentLogger(), clock: systemClock };
    const fullnodes = createFullnodes({
      ...{ network: 'mainnet', urls: [fullnode.url], logger: shared.logger, clock: shared.clock },
      metrics: createFullnodeMetrics(shared.metrics),
    });
    const records = keepUpstreamRecords({ ...shared, role: 'ingest', database: scratch.database });
    await fullnodes.page(0, 10, null, new AbortController().signal);
    await fullnodes.close();
    await records.close();
    await fullnode.close();
    const rows = await readUpstreamCalls(scratch.database, 1);
    expect(rows).toMatchObject([{ chain: 'aptos', role: 'ingest', outcome: 'ok', calls: expect.any(Number) }]);
    expect(rows[0]?.latency.reduce((sum, answers) => sum + answers, 0)).toBe(rows[0]?.calls);
  });

  it('say who was caught in which wrong answer, by day and kind over all processes', async () => {
    const [one, other] = [
      startProcess('ingest', 'http://127.0.0.1:9/key'),
      startProcess('worker', 'http://127.0.0.1:9/key'),
    ];
    for (const { pool } of [one, one, other])
      pool.reportFault('127.0.0.1:9', 'receipts-root-mismatch', { block: 7 });
    other.pool.reportFault('127.0.0.1:9', 'timeout', {});
    await other.records.flush();
    other.pool.reportFault('127.0.0.1:9', 'receipts-root-mismatch', { block: 8, text: 'null \0 character' });
    for (const { pool, records } of [one, other]) {
      await pool.close();
      await records.close();
    }
    expect(await listWrongAnswers(scratch.database, null, 10)).toMatchObject([
      {
        chain: 'scripted',
        upstream: '127.0.0.1:9',
        kind: 'receipts-root-mismatch',
        occurrences: 4,
        method: 'verification',
        block: null,
        seenAt: expect.any(Date),
      },
    ]);
  });
});
