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

describe('NFT transfers', () => {
  const APE = 2n ** 256n - 1n;

  // One row is read faster whole; with that ruled out, only an index remains, if one can serve.
  const indexConditions = async (condition: string): Promise<string> => {
    const sql = `SELECT token_id FROM analytics.nft_transfers WHERE chain_id = 1 AND ${condition}`;
    expect(await asReader(sql)).toContainEqual({ token_id: APE.toString() });
    const plan = await asReader<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, 'SET LOCAL enable_seqscan = off');
    return plan.map((row) => row['QUERY PLAN'].trim()).join('\n');
  };
  const ofApes = `collection_key = analytics.collection_key('${APES}') AND token_bytes = analytics.bytes('${APES}')`;

  test('are found by their collection, as docs/analytics.md tells', async () => {
    const conditions = await indexConditions(ofApes);
    expect(conditions).toMatch(new RegExp(`Index Cond: \\(+collection_key = '${addressKey(APES)}'::bigint\\)`));
  });

  test('are found by their token, as docs/analytics.md tells', async () => {
    const conditions = await indexConditions(
      `${ofApes} AND token_id_key = analytics.token_id_key(${APE}) AND token_id = ${APE}`,
    );
    expect(conditions).toMatch(
      new RegExp(`Index Cond: \\(\\(collection_key = '${addressKey(APES)}'::bigint\\) AND \\(hash_numeric\\(`),
    );
  });

  test.each([
    [
      'owner',
      `owner_key = analytics.wallet_key('${COLLECTOR}') AND owner_bytes = analytics.bytes('${COLLECTOR}')`,
      [
        `Index Cond: .*SUBSTRING\\(to_address .* = '${addressKey(COLLECTOR)}'::bigint`,
        `Index Cond: .*SUBSTRING\\(from_address .* = '${addressKey(COLLECTOR)}'::bigint`,
      ],
    ],
    ['collection', ofApes, [`Index Cond: .*collection_key = '${addressKey(APES)}'::bigint`]],
  ] as const)('are added up by %s for owners, as docs/analytics.md tells', async (_by, where, conditions) => {
    const sql = `SELECT owner, token_id FROM analytics.nft_owners WHERE chain_id = 1 AND ${where}`;
    expect(await asReader(sql)).toContainEqual({ owner: COLLECTOR, token_id: APE.toString() });
    const plan = await asReader<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, 'SET LOCAL enable_seqscan = off');
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    for (const condition of conditions) expect(text).toMatch(new RegExp(condition));
  });
});
