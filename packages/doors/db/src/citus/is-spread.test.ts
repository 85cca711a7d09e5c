import { createScratchDatabase } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { isSpread } from './table-placements.ts';

// For clusters, see commit-lock.nightly.test.ts.
test('a database of one server has no distributed tables', async () => {
  const { database, drop } = await createScratchDatabase();
  try {
    expect(await isSpread(database)).toBe(false);
    expect(await database.transaction((transaction) => isSpread(transaction))).toBe(false);
  } finally {
    await drop();
  }
});
