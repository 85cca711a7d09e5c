import { sql } from '@chainstead/db';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBuilt } from './subject-coverage.ts';

let primary: ScratchDatabase;
let behind: ScratchDatabase;

beforeAll(async () => {
  [primary, behind] = [
    await createScratchDatabase({ migrated: false }),
    await createScratchDatabase({ migrated: false }),
  ];
  await primary.database.query(sql`CREATE TABLE kept AS SELECT 'primary' AS server, true AS "isBuilt"`);
  await behind.database.query(sql`CREATE TABLE kept AS SELECT 'standby' AS server, false AS "isBuilt"`);
});
afterAll(async () => {
  await primary.drop();
  await behind.drop();
});

interface Kept {
  readonly server: string;
  readonly isBuilt: boolean;
}

async function readFrom(reads: ScratchDatabase, requested: string[] = []): Promise<Kept> {
  return readBuilt({ reads: reads.database, database: primary.database }, async (from) => {
    const [row] = await from.select<Kept>(sql`SELECT server, "isBuilt" FROM kept`);
    if (row === undefined) throw new TypeError('The row is gone');
    requested.push(row.server);
    return row;
  });
}

test('what a standby does not have yet is read from the primary, and what it has is not', async () => {
  expect(await readFrom(behind)).toEqual({ server: 'primary', isBuilt: true });
  await behind.database.query(sql`UPDATE kept SET "isBuilt" = true`);
  expect(await readFrom(behind)).toEqual({ server: 'standby', isBuilt: true });
});

test('the primary alone is asked once, built or not', async () => {
  await primary.database.query(sql`UPDATE kept SET "isBuilt" = false`);
  const requested: string[] = [];
  expect(await readFrom(primary, requested)).toEqual({ server: 'primary', isBuilt: false });
  expect(requested).toEqual(['primary']);
});
