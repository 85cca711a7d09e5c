/**
 * A process that spends from a shared limit with many concurrent requests, and prints how many passed.
 * Arguments: database URL, bucket, budget, attempts.
 */
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db/server';
import { createPostgresSpendingStore } from '../postgres-spending-store.ts';
import { createSharedLimits } from '../shared-limits.ts';

const AT_ONCE = 10;
/** Long enough that a stalling machine does not make the store seem unavailable. */
const TIMEOUT_MS = 30_000;

const [databaseUrl = '', name = '', budget = '0', attempts = '0'] = process.argv.slice(2);
const logger = silentLogger();
const database = openDatabase({ url: databaseUrl, applicationName: 'chainstead spending', logger, poolSize: 2 });
const limits = createSharedLimits({
  store: createPostgresSpendingStore({ database }),
  logger,
  metrics: createMetricsRegistry(),
  timeoutMs: TIMEOUT_MS,
});
// Longer than any test, so that everything is in one window.
const limit = limits.add({ name, budget: Number(budget), windowMs: 600_000 });
let left = Number(attempts);
let accepted = 0;

async function spend(): Promise<void> {
  while (left > 0) {
    left -= 1;
    if ((await limits.spend([{ budget: limit.budgetOf('key'), amount: 1 }])) === 0) accepted += 1;
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, spend));
await limits.close();
await database.close();
process.stdout.write(`${accepted}\n`);
