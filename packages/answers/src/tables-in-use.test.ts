import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTablesInUse } from './tables-in-use.ts';

let scratch: ScratchDatabase;
let now = 0;
let asked = 0;

beforeEach(async () => {
  scratch = await createScratchDatabase({ migrated: false });
  now = 0;
  asked = 0;
});
afterEach(() => scratch.drop());

function tables() {
  const selectLasting: ScratchDatabase['database']['selectLasting'] = (text, values) => {
    asked += 1;
    return scratch.database.selectLasting(text, values);
  };
  return createTablesInUse({ selectLasting }, { now: () => now }, 'former_rows');
}

test('without a former table it is looked for once', async () => {
  const read = tables();
  for (let seconds = 0; seconds < 60; seconds += 5) {
    now = seconds * 1_000;
    expect(await read()).toBe('partitioned');
  }
  expect(asked).toBe(1);
});

test('a former table is looked at every ten seconds until it is empty, and then no more', async () => {
  await scratch.database.query('CREATE TABLE former_rows AS SELECT 1 AS row');
  const read = tables();
  for (now = 0; now < 10_000; now += 1_000) expect(await read()).toBe('both');
  expect(asked).toBe(2);
  expect(await read()).toBe('both');
  expect(asked).toBe(4);
  await scratch.database.query('DELETE FROM former_rows');
  now = 20_000;
  expect(await Promise.all([read(), read()])).toEqual(['partitioned', 'partitioned']);
  expect(asked).toBe(6);
  now = 60_000;
  expect(await read()).toBe('partitioned');
  expect(asked).toBe(6);
});

test('a failed look is told, and the next one looks again', async () => {
  let isDown = true;
  const selectLasting: ScratchDatabase['database']['selectLasting'] = async (text, values) => {
    if (isDown) throw new RangeError('down');
    return scratch.database.selectLasting(text, values);
  };
  const read = createTablesInUse({ selectLasting }, { now: () => 0 }, 'former_rows');
  await expect(read()).rejects.toThrow('down');
  isDown = false;
  expect(await read()).toBe('partitioned');
});
