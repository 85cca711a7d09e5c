import { exampleApi } from '@chainstead/http/testing';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FORMER_TABLE } from './schema.ts';
import { blocksOf, eth, getTransfers, transfersIn } from './testing/example-wallet.ts';
import { createFormerTable, moveBack, moveTheRest } from './testing/former-table.ts';
import { seedCoverage, seedTransfers } from './testing/seeded-wallets.ts';
import { walletTokenTransfersRoute } from './wallet-token-transfers-route.ts';

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await seedTransfers(scratch.database, eth, transfersIn(1, 9));
});
afterAll(() => scratch.drop());

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
