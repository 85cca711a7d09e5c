import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { sql } from '../sql.ts';
import { readTime } from './size-metrics.ts';

const scratch = scratchOfFile();

test("the database's time is in milliseconds, and moves on", async () => {
  const first = await readTime(scratch.database);
  const [own] = await scratch.database.query<{ at: Date }>(sql`SELECT clock_timestamp() AS at`);
  expect(first).toBeLessThanOrEqual((own?.at.getTime() ?? 0) + 1);
  expect(await readTime(scratch.database)).toBeGreaterThan(first);
});
