import { silentLogger, systemClock } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { sql } from '../sql.ts';
import { examineServer } from './examine-server.ts';

const scratch = scratchOfFile();

const SUBJECTS = [
  'version',
  'writes',
  'durability',
  'autovacuum',
  'memory and log',
  'round trip',
  'clock',
  'disk',
];

/** Returns the findings for a server with these settings. */
async function examine(
  settings: Readonly<Record<string, string>> = {},
  clockMs = 0,
): Promise<Map<string, string>> {
  const database = openDatabase({ url: scratch.url, applicationName: 'test', settings, logger: silentLogger() });
  try {
    const clock = { now: () => systemClock.now() + clockMs };
    const findings = await examineServer({ database, clock, folder: import.meta.dirname });
    expect(findings.map(({ subject }) => subject).filter((subject) => subject !== 'replication')).toEqual(
      SUBJECTS,
    );
    return new Map(findings.map(({ subject, verdict }) => [subject, verdict]));
  } finally {
    await database.close();
  }
}

test('a server that takes no writes is bad', async () => {
  expect((await examine()).get('writes')).toBe('ok');
  expect((await examine({ default_transaction_read_only: 'on' })).get('writes')).toBe('bad');
});

test('a server whose clock is another is told', async () => {
  expect((await examine()).get('clock')).toBe('ok');
  expect((await examine({}, 60_000)).get('clock')).toBe('warning');
});

test('a server that may lose what it was given is told', async () => {
  // Test servers don't wait for their disks.
  expect((await examine()).get('durability')).not.toBe('ok');
  expect((await examine()).get('version')).toBe('ok');
  expect((await examine()).get('autovacuum')).toBe('ok');
});

test('publications that send nothing are a warning, on a server with logical replication they are not', async () => {
  expect((await examine()).get('replication')).toBe(undefined);
  await scratch.database.query(sql`CREATE PUBLICATION one`);
  await scratch.database.query(sql`CREATE PUBLICATION another FOR TABLE blocks`);
  // Test servers have the lowest level.
  const findings = await examineServer({ database: scratch.database, clock: systemClock, folder: null });
  expect(findings.at(-1)).toEqual({
    subject: 'replication',
    verdict: 'warning',
    found: 'wal_level minimal, publications: another, one',
    meaning: 'Subscribers receive nothing: logical replication needs wal_level = logical.',
    remedy:
      "Run ALTER SYSTEM SET wal_level = 'logical' and restart Postgres, or drop the publications (docs/operate/replicate.md).",
  });
});
