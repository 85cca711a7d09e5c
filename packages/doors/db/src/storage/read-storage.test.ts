import { tmpdir } from 'node:os';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { sql } from '../sql.ts';
import { daysUntilFull, growthPerDay, readDiskSpace, readStorage, sampleTables } from './read-storage.ts';

const scratch = scratchOfFile();

test('tells rows, sizes with indexes and partitions, growth a day, and how long the disk lasts', async () => {
  const { database } = scratch;
  await database.query(sql`
    CREATE TABLE parted (n int PRIMARY KEY) PARTITION BY RANGE (n);
    CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (10);
    CREATE TABLE parted_high PARTITION OF parted FOR VALUES FROM (10) TO (100000);
    INSERT INTO parted SELECT generate_series(0, 50000);`);
  const before = (await readStorage(database, { diskBytes: null, folder: null })).tables.find(
    ({ table }) => table === 'parted',
  );
  expect(before).toMatchObject({ rows: null, partitions: 2, bytesPerDay: null });
  await database.query(sql`ANALYZE parted`);
  await sampleTables(database);
  // A second sample within the hour is ignored.
  await sampleTables(database);
  await database.query(
    sql`UPDATE table_sizes_hourly SET sampled_at = now() - interval '12 hours', bytes = bytes - 1000000 WHERE table_name IN ('', 'parted')`,
  );
  const report = await readStorage(database, { diskBytes: 10_000_000_000, folder: null });
  const parted = report.tables.find(({ table }) => table === 'parted');
  expect(parted?.rows).toBeCloseTo(50_001, -2);
  expect(parted?.indexBytes).toBeGreaterThan(500_000);
  expect(parted?.bytesPerDay).toBeCloseTo(2_000_000, -4);
  expect(report.bytesPerDay).toBeGreaterThan(1_900_000);
  expect(report.overSeconds).toBeCloseTo(43_200, -2);
  expect(report.daysLeft).toBeGreaterThan(100);
  expect(report.tables.map(({ table }) => table)).not.toContain('parted_low');
  // A table sampled only now has no growth per day.
  expect(report.tables.find(({ table }) => table === 'blocks')?.bytesPerDay).toBeNull();
  const sizes = report.tables.map(({ heapBytes, indexBytes }) => heapBytes + indexBytes);
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
});

test('samples are forgotten after a day, and of several processes one counts', async () => {
  const { database } = scratch;
  await database.query(sql`INSERT INTO table_sizes_hourly (table_name, hour, sampled_at, bytes)
    VALUES ('old', now() - interval '30 hours', now() - interval '30 hours', 1)`);
  await database.query(sql`DELETE FROM table_sizes_hourly WHERE table_name <> 'old'`);
  await Promise.all([sampleTables(database), sampleTables(database), sampleTables(database)]);
  const rows = await database.query<{ old: number; whole: number }>(
    sql`SELECT count(*) FILTER (WHERE table_name = 'old')::int AS old, count(*) FILTER (WHERE table_name = '')::int AS whole FROM table_sizes_hourly`,
  );
  expect(rows).toEqual([{ old: 0, whole: 1 }]);
});

test('the disk is that of the folder, or as it was told, or unknown with the reason', async () => {
  expect(await readDiskSpace({ diskBytes: null, folder: tmpdir() }, 1)).toMatchObject({
    isKnown: true,
    source: 'folder',
    freeBytes: expect.any(Number),
  });
  expect(await readDiskSpace({ diskBytes: 100, folder: tmpdir() }, 30)).toEqual({
    isKnown: true,
    source: 'setting',
    sizeBytes: 100,
    freeBytes: 70,
  });
  expect(await readDiskSpace({ diskBytes: 100, folder: null }, 130)).toMatchObject({ freeBytes: 0 });
  expect(await readDiskSpace({ diskBytes: null, folder: null }, 1)).toMatchObject({
    isKnown: false,
    reason: expect.stringContaining('DATABASE_DISK_BYTES'),
  });
  expect(await readDiskSpace({ diskBytes: null, folder: '/no/such/folder' }, 1)).toMatchObject({
    isKnown: false,
    reason: expect.stringContaining('/no/such/folder'),
  });
});

test('tables that shrink, or were sampled just now, fill no disk', () => {
  const disk = { isKnown: true, sizeBytes: 100, freeBytes: 50, source: 'folder' } as const;
  expect(growthPerDay(10, null)).toBeNull();
  expect(growthPerDay(10, { bytes: 5, secondsAgo: 60 })).toBeNull();
  expect(growthPerDay(10, { bytes: 5, secondsAgo: 43_200 })).toBe(10);
  expect(daysUntilFull(disk, 10)).toBe(5);
  expect(daysUntilFull(disk, -10)).toBeNull();
  expect(daysUntilFull(disk, null)).toBeNull();
  expect(daysUntilFull({ isKnown: false, reason: '' }, 10)).toBeNull();
});
