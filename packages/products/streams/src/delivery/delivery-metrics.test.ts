import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { createScratchDatabase } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { measureDeliveries } from './delivery-metrics.ts';

test('what waits is told with its age, and not what has arrived before or been given up', async () => {
  const scratch = await createScratchDatabase();
  const registry = createMetricsRegistry();
  measureDeliveries({ registry, database: scratch.database, logger: silentLogger() });
  const age = async (status: string): Promise<number> => {
    const text = await registry.metrics();
    return Number(
      new RegExp(`^chainstead_webhook_oldest_pending_seconds\\{status="${status}"\\} (\\S+)$`, 'm').exec(
        text,
      )?.[1],
    );
  };
  const deliver = (minutes: number, status: string, hasArrived = false) =>
    scratch.database.query(
      sql`INSERT INTO stream_deliveries (id, stream_id, chain_id, block_number, block_hash, kind, status, created_at, delivered_at)
       SELECT gen_random_uuid(), id, 1, 1, '\\x00', 'confirmed', ${status}, now() - ${minutes} * interval '1 minute', CASE WHEN ${hasArrived} THEN now() END FROM streams`,
    );
  try {
    expect(await age('active')).toBe(0);
    await scratch.database.query(
      sql`INSERT INTO streams (id, webhook_url, description, tag, chain_ids, all_addresses, include_native_txs, include_contract_logs,
         include_internal_txs, include_all_tx_logs, filter_possible_spam_addresses, get_native_balances, demo, status, status_message, amount_of_addresses)
       VALUES (gen_random_uuid(), 'https://a.example', '', '', '{1}', false, true, false, false, false, false, '[]', false, 'active', '', 0)`,
    );
    await deliver(10, 'pending');
    await deliver(5, 'pending');
    await deliver(60, 'pending', true);
    await deliver(90, 'failed');
    await deliver(90, 'delivered', true);
    expect(await age('active')).toBeGreaterThanOrEqual(600);
    expect(await age('active')).toBeLessThan(900);
    expect(await age('error')).toBe(0);
    const text = await registry.metrics();
    expect(text).toContain('chainstead_webhooks_pending{status="active"} 3\n');
    expect(text).toContain('chainstead_webhooks_pending{status="error"} 0\n');
    expect(text).toContain('chainstead_webhooks_total{result="gave-up"} 0\n');
  } finally {
    await scratch.drop();
  }
});

test('counts of streams that can no longer be read stay, and are marked stale', async () => {
  const scratch = await createScratchDatabase();
  const database = openDatabase({ url: scratch.url, applicationName: 'metrics', logger: silentLogger() });
  const registry = createMetricsRegistry();
  measureDeliveries({ registry, database, logger: silentLogger() });
  try {
    expect(await registry.metrics()).toMatch(/^chainstead_streams_stale 0$/m);
    await database.close();
    const metrics = await registry.metrics();
    expect(metrics).toMatch(/^chainstead_streams_stale 1$/m);
    expect(metrics).toMatch(/^chainstead_streams\{status="active"\} 0$/m);
  } finally {
    await scratch.drop();
  }
});
