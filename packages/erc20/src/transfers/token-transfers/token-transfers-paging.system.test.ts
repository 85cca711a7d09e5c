import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAI, eth, FRIEND, transfer, transfersIn, USDC } from '../testing/example-wallet.ts';
import { seedCoverage, seedTransfers } from '../testing/seeded-wallets.ts';
import { blocksOf, openTokenStage, type TokenAnswer, type TokenStage } from './testing/token-stage.ts';

let stage: TokenStage;
beforeAll(async () => {
  stage = await openTokenStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.empty());

const placesOf = (answers: readonly TokenAnswer[]): string[] =>
  answers.flatMap(({ result }) => result.map((row) => `${row.block_number}.${row.transaction_index}.${row.log_index}`));

describe('pages of a token', () => {
  test.each([
    ['ASC', 1],
    ['DESC', 1],
    ['ASC', 100],
    ['DESC', 100],
  ] as const)('walk every transfer once, %s, %i a page', async (order, limit) => {
    await seedCoverage(stage.database, eth, 0, 400);
    const seeded = [
      ...transfersIn(1, 120),
      ...transfersIn(121, 130).flatMap((one) => [
        one,
        { ...one, logIndex: 1, from: FRIEND },
        { ...one, transactionIndex: 1, logIndex: 0 },
        { ...one, transactionIndex: 1, logIndex: 1, token: DAI },
      ]),
    ];
    await seedTransfers(stage.database, eth, seeded);
    const answers = await stage.pages(`?limit=${limit}&order=${order}`);
    const expected = seeded
      .filter(({ token }) => token === USDC)
      .map((one) => `${one.blockNumber}.${one.transactionIndex}.${one.logIndex}`);
    expect(placesOf(answers)).toEqual(order === 'ASC' ? expected : expected.toReversed());
    expect(answers.map(({ page, page_size }) => [page, page_size])).toEqual(
      answers.map((_answer, index) => [index, limit]),
    );
    expect(answers.length).toBe(Math.ceil(expected.length / limit));
  });

  test.each(['ASC', 'DESC'])('stay what they are while blocks arrive and others are reorganised, %s', async (order) => {
    const { database } = stage;
    await seedCoverage(database, eth, 0, 20);
    await seedTransfers(database, eth, transfersIn(1, 20));
    const walked: TokenAnswer[] = [await stage.get(`?limit=1&order=${order}`)];
    for (let round = 0; ; round++) {
      const { cursor } = walked.at(-1) ?? { cursor: null };
      if (cursor === null) break;
      // A block at the head each time; once the two newest of the run are replaced by others with more in them.
      await seedTransfers(database, eth, [transfer(21 + round)]);
      if (round === 5) {
        await database.query('DELETE FROM erc20_transfers WHERE block_number IN (19, 20)');
        await database.query('DELETE FROM blocks WHERE block_number IN (19, 20)');
        await seedTransfers(database, eth, [transfer(19, { logIndex: 5 }), transfer(20, { logIndex: 5 })]);
      }
      walked.push(await stage.get(`?cursor=${cursor}`));
    }
    const common = Array.from({ length: 18 }, (_, index) => `${index + 1}.0.0`);
    expect(placesOf(walked)).toEqual(
      order === 'ASC' ? [...common, '19.0.5', '20.0.5'] : ['20.0.0', '19.0.0', ...common.toReversed()],
    );
  });

  test('show what backfill adds beyond the cursor’s place, once', async () => {
    const { database } = stage;
    await seedCoverage(database, eth, 100, 200);
    await seedTransfers(database, eth, [transfer(100), transfer(110), transfer(120)]);
    const first = await stage.get('?limit=2');
    await seedTransfers(database, eth, [transfer(50), transfer(115)]);
    expect([blocksOf(first), blocksOf(await stage.get(`?cursor=${first.cursor}`))]).toEqual([
      [120, 110],
      [100, 50],
    ]);
  });

  test('are bounded by blocks and dates on both sides, in both orders', async () => {
    await seedTransfers(stage.database, eth, transfersIn(1, 30));
    await seedCoverage(stage.database, eth, 0, 30);
    const wanted = [11, 12, 13, 14];
    for (const bounds of ['from_block=11&to_block=14', 'from_date=1600000132&to_date=1600000168'])
      for (const order of ['ASC', 'DESC']) {
        const answers = await stage.pages(`?limit=3&order=${order}&${bounds}`);
        expect(answers.flatMap(blocksOf)).toEqual(order === 'ASC' ? wanted : wanted.toReversed());
      }
  });

  test('keep to the query of their cursor', async () => {
    await seedTransfers(stage.database, eth, transfersIn(1, 9));
    const { cursor } = await stage.get('?limit=2&order=ASC&from_block=2');
    expect(blocksOf(await stage.get(`?cursor=${cursor}&order=asc&from_block=2&chain=0x1&limit=50`))).toEqual([4, 5]);
    for (const changed of ['order=DESC', 'from_block=3', 'chain=base', 'to_date=2020-01-01'])
      expect((await stage.request(`/erc20/${USDC}/transfers?cursor=${cursor}&${changed}`)).status).toBe(400);
    expect((await stage.request(`/erc20/${DAI}/transfers?cursor=${cursor}`)).status).toBe(400);
  });
});
