import type { StorageReport } from '@chainstead/db/server';
import { expect, test } from 'vitest';
import { renderStorage, storageJson } from './text-table.ts';

const report: StorageReport = {
  tables: [{ table: 'blocks', rows: 7, heapBytes: 100, indexBytes: 50, partitions: 0, bytesPerDay: 10 }],
  databaseBytes: 12_000_000_000,
  bytesPerDay: 2_000_000_000,
  overSeconds: 86_400,
  disk: { isKnown: true, sizeBytes: 100_000_000_000, freeBytes: 81_000_000_000, source: 'folder' },
  daysLeft: 40.5,
  away: [],
};

test('the database tells its size, its growth, and for how long the disk lasts', () => {
  expect(renderStorage(report)).toEqual([
    'database\n    12.00 GB, 2.00 GB per day; 81.00 GB of 100.00 GB free, full in about 40 days\n',
  ]);
  expect(storageJson(report)).toMatchObject({
    disk_free_bytes: 81_000_000_000,
    days_left: 40.5,
    disk_unknown: null,
  });
});

test('what is unknown is said to be', () => {
  const unknown: StorageReport = {
    ...report,
    bytesPerDay: null,
    disk: { isKnown: false, reason: 'set DATABASE_DISK_BYTES' },
    daysLeft: null,
    away: ['10.0.0.2:5432'],
  };
  const [text = ''] = renderStorage(unknown);
  expect(text).toContain('growth unknown; disk unknown: set DATABASE_DISK_BYTES\n');
  expect(text).toContain('without 10.0.0.2:5432');
  expect(storageJson(unknown)).toMatchObject({ disk_bytes: null, disk_unknown: 'set DATABASE_DISK_BYTES' });
});
