import { exampleApi } from '@chainstead/http/testing';
import { timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Answer, eth, getTransfers, transfer, transfersIn } from './testing/example-wallet.ts';
import { seedCoverage, seedTransfers } from './testing/seeded-wallets.ts';
import { walletTokenTransfersRoute } from './wallet-token-transfers-route.ts';

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, [walletTokenTransfersRoute]));
beforeEach(() =>
  scratch.database.query('TRUNCATE erc20_transfers, blocks, sync_ranges, tokens, address_labels').then(() => undefined),
);

const get = (query: string, wallet?: string): Promise<Answer> => getTransfers(api, query, wallet);

describe('indexed', () => {
  const indexed = async (query = ''): Promise<Answer['indexed']> => (await get(query)).indexed;

  test('is the unbroken run that ends with the newest covered block, whatever its proof', async () => {
    await seedCoverage(scratch.database, eth, 0, 9);
    await seedCoverage(scratch.database, eth, 20, 29);
    await seedCoverage(scratch.database, eth, 30, 39, 'none');
    expect(await indexed()).toEqual({ from_block: '20', to_block: '39', complete: false });
    await seedCoverage(scratch.database, eth, 10, 19);
    expect(await indexed()).toEqual({ from_block: '0', to_block: '39', complete: true });
  });

  test('is complete when the blocks that were asked for are covered', async () => {
    await seedCoverage(scratch.database, eth, 5, 9);
    await seedCoverage(scratch.database, eth, 20, 29);
    const complete = async (query: string): Promise<boolean> => (await indexed(query)).complete;
    expect(await complete('?from_block=20')).toBe(true);
    expect(await complete('?from_block=19')).toBe(false);
    expect(await complete('?from_block=5&to_block=9')).toBe(true);
    expect(await complete('?from_block=5&to_block=10')).toBe(false);
    expect(await complete('?from_block=20&to_block=29')).toBe(true);
    expect(await complete('?from_block=20&to_block=30')).toBe(false);
    expect(await complete('?from_block=30')).toBe(false);
    expect(await complete('?to_block=9')).toBe(false);
  });

  test('is complete for dates when every block that may belong to them is covered', async () => {
    await seedTransfers(scratch.database, eth, [transfer(10), transfer(15), transfer(20)]);
    await seedCoverage(scratch.database, eth, 10, 20);
    const date = (block: number): string => new Date(timestampOf(block) * 1000).toISOString();
    const complete = async (query: string): Promise<boolean> => (await indexed(query)).complete;
    // Nothing earlier is known, so blocks before the run may belong to the span too.
    expect(await complete(`?from_date=${date(10)}`)).toBe(false);
    expect(await complete(`?from_date=${date(11)}`)).toBe(true);
    expect(await complete(`?from_date=${date(11)}&to_date=${date(16)}`)).toBe(true);
    expect(await complete(`?from_date=${date(11)}&to_date=${date(99)}`)).toBe(true);
    expect(await complete(`?to_date=${date(16)}`)).toBe(false);
  });

  test('does not change its mind on later pages', async () => {
    await seedCoverage(scratch.database, eth, 0, 9);
    await seedTransfers(scratch.database, eth, transfersIn(1, 9));
    const open = await get('?limit=4');
    const beyond = await get('?limit=4&to_block=50');
    await seedCoverage(scratch.database, eth, 20, 29);
    expect([open.indexed.complete, (await get(`?cursor=${open.cursor}`)).indexed.complete]).toEqual([true, true]);
    expect([beyond.indexed.complete, (await get(`?cursor=${beyond.cursor}`)).indexed.complete]).toEqual([false, false]);
  });
});
