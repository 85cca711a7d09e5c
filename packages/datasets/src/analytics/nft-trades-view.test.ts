import { createChainRegistry } from '@chainstead/chains';
import { addressKey } from '@chainstead/db/address-key';
import { addressOf, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { APES, COLLECTOR, seedNfts } from './testing/seeded-nfts.ts';

const eth = createChainRegistry().get('eth');

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await seedNfts(scratch.database, eth, addressOf(1));
});
afterAll(() => scratch.drop());

function asReader<Row extends object>(sql: string, ...settings: readonly string[]): Promise<Row[]> {
  return scratch.database.transaction(async (transaction) => {
    await transaction.query('SET LOCAL ROLE chainstead_reader');
    for (const setting of settings) await transaction.query(setting);
    return transaction.query<Row>(sql);
  });
}

describe('NFT trades', () => {
  // Some rows are read faster whole; with that ruled out, only an index remains, if one can serve.
  const indexConditions = async (condition: string, blocks: readonly number[]): Promise<string> => {
    const sql = `SELECT block_number FROM analytics.nft_trades WHERE chain_id = 1 AND ${condition} ORDER BY block_number`;
    const rows = await asReader<{ block_number: number }>(sql);
    expect(rows.map(({ block_number }) => block_number)).toEqual(blocks);
    const plan = await asReader<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, 'SET LOCAL enable_seqscan = off');
    return plan.map((row) => row['QUERY PLAN'].trim()).join('\n');
  };

  test('are found by their collection, as docs/analytics.md tells', async () => {
    const conditions = await indexConditions(
      `collection_key = analytics.collection_key('${APES}') AND token_bytes = analytics.bytes('${APES}')`,
      [10, 20, 21, 22, 23, 24],
    );
    expect(conditions).toContain(`(collection_key = '${addressKey(APES)}'::bigint)`);
  });

  test.each([
    ['seller', [10, 21, 22]],
    ['buyer', [20, 21, 30]],
  ] as const)('are found by their %s, as docs/analytics.md tells', async (side, blocks) => {
    const conditions = await indexConditions(
      `${side}_key = analytics.wallet_key('${COLLECTOR}') AND ${side}_bytes = analytics.bytes('${COLLECTOR}')`,
      blocks,
    );
    expect(conditions).toMatch(new RegExp(`Index Cond: .*'${addressKey(COLLECTOR)}'::bigint`));
  });
});
