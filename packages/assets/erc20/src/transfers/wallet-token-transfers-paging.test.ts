import { sql } from '@chainstead/db';
import { exampleApi } from '@chainstead/http/testing';
import { timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  blocksOf,
  DAI,
  eth,
  getTransfers,
  transfer,
  transfersIn,
} from './testing/example-wallet.ts';
import { seedCoverage, seedTransfers } from './testing/seeded-wallets.ts';
import { walletTokenTransfersRoute } from './wallet-transfers-page.ts';

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, [walletTokenTransfersRoute]));
beforeEach(() =>
  scratch.database
    .query(sql`TRUNCATE erc20_transfer_sides, blocks, sync_ranges, tokens, address_labels`)
    .then(() => undefined),
);

const get = (query: string, wallet?: string): Promise<Answer> => getTransfers(api, query, wallet);

describe('paging', () => {
  async function pages(query: string): Promise<Answer[]> {
    const answers = [await get(query)];
    for (let cursor = answers[0]?.cursor ?? null; cursor !== null; cursor = answers.at(-1)?.cursor ?? null)
      answers.push(await get(`?cursor=${cursor}`));
    return answers;
  }

  test('disable_total=false counts the whole answer on every page of the run', async () => {
    await seedCoverage(scratch.database, eth, 0, 5);
    await seedTransfers(scratch.database, eth, transfersIn(1, 5));
    expect((await pages('?limit=2&disable_total=false')).map((answer) => answer.total)).toEqual([5, 5, 5]);
    expect((await get('?limit=2&disable_total=false&from_block=2&to_block=4')).total).toBe(3);
    expect((await get(`?limit=2&disable_total=false&contract_addresses=${DAI}`)).total).toBe(0);
    expect((await get('?limit=2&disable_total=true')).total).toBeNull();
  });

  test('more than 10,000 rows are not counted', async () => {
    await seedCoverage(scratch.database, eth, 0, 10_001);
    await seedTransfers(scratch.database, eth, transfersIn(1, 10_000));
    expect((await get('?disable_total=false')).total).toBe(10_000);
    await seedTransfers(scratch.database, eth, [transfer(10_001)]);
    expect((await get('?disable_total=false')).total).toBeNull();
    expect((await get('?disable_total=false&from_block=2')).total).toBe(10_000);
  });

  // Invariant: PAGE-KEYSET
  test.each(['ASC', 'DESC'])('rows of new blocks never enter a running cursor, %s', async (order) => {
    await seedCoverage(scratch.database, eth, 0, 4);
    await seedTransfers(scratch.database, eth, transfersIn(1, 4));
    const first = await get(`?limit=3&order=${order}`);
    await seedTransfers(scratch.database, eth, transfersIn(5, 9));
    const second = await get(`?cursor=${first.cursor}`);
    expect([...blocksOf(first), ...blocksOf(second)]).toEqual(order === 'ASC' ? [1, 2, 3, 4] : [4, 3, 2, 1]);
    expect(second).toMatchObject({ cursor: null, total: 4 });
  });

  test('rows that backfill adds beyond the cursor’s place appear, rows that a reorganisation removed vanish', async () => {
    await seedCoverage(scratch.database, eth, 100, 200);
    await seedTransfers(scratch.database, eth, [transfer(100), transfer(101), transfer(102)]);
    const first = await get('?limit=2&order=ASC');
    await seedTransfers(scratch.database, eth, [transfer(50), transfer(150), transfer(201)]);
    await scratch.database.query(sql`DELETE FROM erc20_transfer_sides WHERE block_number = 102`);
    expect(blocksOf(await get(`?cursor=${first.cursor}`))).toEqual([150]);
  });
});

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

  // Invariant: PAGE-COMPLETE
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
    // Earlier blocks are unknown, so blocks before the run may belong to the time span too.
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
    expect([beyond.indexed.complete, (await get(`?cursor=${beyond.cursor}`)).indexed.complete]).toEqual([
      false,
      false,
    ]);
  });
});
