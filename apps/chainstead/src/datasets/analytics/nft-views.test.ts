import { createChainRegistry } from '@chainstead/chains';
import { addressKey } from '@chainstead/db/column-types';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { asAnalyst, indexedPlan } from './testing/as-analyst.ts';
import { APES, COLLECTOR, seedNfts } from './testing/seeded-nfts.ts';

const eth = createChainRegistry().get('eth');

const scratch = scratchOfFile();

beforeAll(async () => {
  await seedNfts(scratch.database, eth, addressOf(1));
});

const asReader = <Row extends object>(sql: string): Promise<Row[]> => asAnalyst(scratch.database, sql);
const planOf = (sql: string): Promise<string> => indexedPlan(scratch.database, sql);

describe('NFT trades', () => {
  const indexConditions = async (condition: string, blocks: readonly number[]): Promise<string> => {
    const sql = `SELECT block_number FROM analytics.nft_trades WHERE chain_id = 1 AND ${condition} ORDER BY block_number`;
    const rows = await asReader<{ block_number: number }>(sql);
    expect(rows.map(({ block_number }) => block_number)).toEqual(blocks);
    return planOf(sql);
  };

  test('are found by their collection, as docs/api/sql.md lists', async () => {
    const conditions = await indexConditions(
      `collection_key = analytics.collection_key('${APES}') AND token_bytes = analytics.bytes('${APES}')`,
      [10, 20, 21, 22, 23, 24],
    );
    expect(conditions).toContain(`(collection_key = '${addressKey(APES)}'::bigint)`);
  });

  test.each([
    ['seller', [10, 21, 22]],
    ['buyer', [20, 21, 30]],
  ] as const)('are found by their %s, as docs/api/sql.md lists', async (side, blocks) => {
    const conditions = await indexConditions(
      `${side}_key = analytics.wallet_key('${COLLECTOR}') AND ${side}_bytes = analytics.bytes('${COLLECTOR}')`,
      blocks,
    );
    expect(conditions).toMatch(new RegExp(`Index Cond: .*'${addressKey(COLLECTOR)}'::bigint`));
  });
});

describe('NFT transfers', () => {
  const APE = 2n ** 256n - 1n;

  const indexConditions = async (condition: string): Promise<string> => {
    const sql = `SELECT token_id FROM analytics.nft_transfers WHERE chain_id = 1 AND ${condition}`;
    expect(await asReader(sql)).toContainEqual({ token_id: APE.toString() });
    return planOf(sql);
  };
  const ofApes = `collection_key = analytics.collection_key('${APES}') AND token_bytes = analytics.bytes('${APES}')`;

  test('are found by their collection, as docs/api/sql.md lists', async () => {
    const conditions = await indexConditions(ofApes);
    expect(conditions).toMatch(new RegExp(`Index Cond: \\(+collection_key = '${addressKey(APES)}'::bigint\\)`));
  });

  test('are found by their token, as docs/api/sql.md lists', async () => {
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
  ] as const)('are added up by %s for owners, as docs/api/sql.md lists', async (_by, where, conditions) => {
    const sql = `SELECT owner, token_id FROM analytics.nft_owners WHERE chain_id = 1 AND ${where}`;
    expect(await asReader(sql)).toContainEqual({ owner: COLLECTOR, token_id: APE.toString() });
    const text = await planOf(sql);
    for (const condition of conditions) expect(text).toMatch(new RegExp(condition));
  });
});
