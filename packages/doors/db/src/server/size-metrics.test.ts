import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createScratchDatabase } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { sql } from '../sql.ts';
import { measureSizes } from './size-metrics.ts';

function valueIn(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test('tables tell their sizes with indexes and partitions, and those that are gone nothing', async () => {
  const scratch = await createScratchDatabase({ migrated: false });
  const { database } = scratch;
  const registry = createMetricsRegistry();
  measureSizes({ registry, database, logger: silentLogger(), keptMs: 0 });
  try {
    await database.query(sql`
      CREATE TABLE parted (n int PRIMARY KEY) PARTITION BY RANGE (n);
      CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (10);
      CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (10) TO (100000);
      CREATE TABLE plain (n int);
      INSERT INTO parted SELECT generate_series(0, 50000);`);
    const [sizes] = await database.query<{ bytes: number; low: number }>(
      sql`SELECT pg_total_relation_size('parted_low') + pg_total_relation_size('parted_high') AS bytes, pg_total_relation_size('parted_low') AS low`,
    );
    const text = await registry.metrics();
    expect(valueIn(text, 'chainstead_table_size_bytes{table="parted"}')).toBe(sizes?.bytes);
    expect(valueIn(text, 'chainstead_table_partitions{table="parted"}')).toBe(2);
    expect(valueIn(text, 'chainstead_table_size_bytes{table="plain"}')).toBe(0);
    expect(text).not.toMatch(/parted_low|partitions\{table="plain"/);
    expect(valueIn(text, 'chainstead_database_size_bytes')).toBeGreaterThan(sizes?.bytes ?? Infinity);

    await database.query(sql`DROP TABLE parted_high; DROP TABLE plain`);
    const later = await registry.metrics();
    expect(valueIn(later, 'chainstead_table_size_bytes{table="parted"}')).toBe(sizes?.low);
    expect(later).not.toContain('table="plain"');
  } finally {
    await scratch.drop();
  }
});

test('sizes are read once in a while, and a database that is away takes no other metric with it', async () => {
  const scratch = await createScratchDatabase({ migrated: false });
  const database = openDatabase({ url: scratch.url, applicationName: 'sizes', logger: silentLogger() });
  const registry = createMetricsRegistry();
  measureSizes({ registry, database, logger: silentLogger() });
  try {
    const before = valueIn(await registry.metrics(), 'chainstead_database_size_bytes');
    expect(before).toBeGreaterThan(0);
    await scratch.database.query(sql`CREATE TABLE later (n int)`);
    expect(await registry.metrics()).not.toContain('table="later"');
    await database.close();
    expect(valueIn(await registry.metrics(), 'chainstead_database_size_bytes')).toBe(before);
  } finally {
    await scratch.drop();
  }
});
