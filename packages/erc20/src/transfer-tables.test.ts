import { exampleApi } from '@chainstead/http/testing';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { blocksOf, eth, getTransfers, transfersIn } from './testing/example-wallet.ts';
import { createFormerTable, moveBack, moveTheRest } from './testing/former-table.ts';
import { seedCoverage, seedTransfers } from './testing/seeded-wallets.ts';
import { createTransferTables, FORMER_TABLE } from './transfer-tables.ts';
import { walletTokenTransfersRoute } from './wallet-token-transfers-route.ts';

let scratch: ScratchDatabase;
let now = 0;
let asked = 0;

beforeEach(async () => {
  scratch = await createScratchDatabase();
  now = 0;
  asked = 0;
  await seedTransfers(scratch.database, eth, transfersIn(1, 9));
});
afterEach(() => scratch.drop());

function tables() {
  const query: ScratchDatabase['database']['query'] = (text, values) => {
    asked += 1;
    return scratch.database.query(text, values);
  };
  return createTransferTables({ query }, { now: () => now });
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
  await createFormerTable(scratch.database);
  await moveBack(scratch.database, 'block_number < 4');
  const read = tables();
  for (now = 0; now < 10_000; now += 1_000) expect(await read()).toBe('both');
  expect(asked).toBe(2);
  expect(await read()).toBe('both');
  expect(asked).toBe(4);
  await moveTheRest(scratch.database);
  now = 20_000;
  expect(await Promise.all([read(), read()])).toEqual(['partitioned', 'partitioned']);
  expect(asked).toBe(6);
  now = 60_000;
  expect(await read()).toBe('partitioned');
  expect(asked).toBe(6);
});

test('a failed look is told, and the next one looks again', async () => {
  let isDown = true;
  const query: ScratchDatabase['database']['query'] = async (text, values) => {
    if (isDown) throw new RangeError('down');
    return scratch.database.query(text, values);
  };
  const read = createTransferTables({ query }, { now: () => 0 });
  await expect(read()).rejects.toThrow('down');
  isDown = false;
  expect(await read()).toBe('partitioned');
});

test('the route shows rows of both tables, and goes on when all are moved and the former one is gone', async () => {
  await createFormerTable(scratch.database);
  await moveBack(scratch.database, 'block_number % 2 = 0');
  await seedCoverage(scratch.database, eth, 0, 8);
  const api = await exampleApi(scratch.database, [walletTokenTransfersRoute]);
  const first = await getTransfers(api, '?limit=5&disable_total=false');
  expect([blocksOf(first), first.total]).toEqual([[9, 8, 7, 6, 5], 9]);
  await moveTheRest(scratch.database);
  expect(blocksOf(await getTransfers(api, `?cursor=${first.cursor}`))).toEqual([4, 3, 2, 1]);
  await scratch.database.query(`DROP TABLE ${FORMER_TABLE}`);
  const later = await exampleApi(scratch.database, [walletTokenTransfersRoute]);
  expect(blocksOf(await getTransfers(later, '?limit=3'))).toEqual([9, 8, 7]);
});
