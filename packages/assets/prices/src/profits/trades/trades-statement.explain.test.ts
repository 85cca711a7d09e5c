/** A part of the trades of a wallet or token is read from ranges of indexes that stop after the part, in any plan. */
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { seedPools } from '@chainstead/markets/testing';
import {
  addressOf,
  createPartitions,
  explain,
  PLANS,
  type PlanKind,
  type PlanNode,
  partitionsRead,
  rowsScanned,
  storeBlocks,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { ANN, CATS, DOGS, eth, seedStage, WETH } from '../testing/profit-stage.ts';
import {
  cutStatement,
  TOKEN_SWAPS,
  type TradesQuery,
  type TradesSubject,
  tradesStatement,
  WALLET_SWAPS,
} from './trades-statement.ts';

const LIMIT = 100;
const SWAPS = 40_000;
/** Swaps in the stale statistics. */
const ANALYZED = 2_000;
const CUT = 20_000;
const [PAIR, OTHER] = [addressOf(0x91), addressOf(0x92)];

const scratch = scratchOfFile({ autovacuum: false });
const bytes = (hex: string) => sql`${hexBytes(hex)}::bytea`;

/** One swap a block: nine of ten in one pool; every second one by the wallet, and of the rest a third for it. */
async function seedRange(first: number, last: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, token0, token1, amount0, amount1, wallet, beneficiary, transaction_hash)
     SELECT address_key(pool), ${rawSql(eth.id)}, number, 0, 0, 0, pool, token0, ${bytes(WETH)}, 5, -7,
       CASE WHEN number % 2 = 0 THEN ${bytes(ANN)} ELSE ${bytes(addressOf(0x52))} END, CASE WHEN number % 6 = 1 THEN ${bytes(ANN)} END, sha256(number::text::bytea)
     FROM (SELECT number, CASE WHEN number % 10 = 0 THEN ${bytes(OTHER)} ELSE ${bytes(PAIR)} END AS pool,
         CASE WHEN number % 10 = 0 THEN ${bytes(DOGS)} ELSE ${bytes(CATS)} END AS token0 FROM generate_series(${first}::int, ${last}::int) AS number) AS numbered`,
  );
  await scratch.database.query(
    sql`INSERT INTO trades (pool_key, chain_id, block_number, transaction_index, log_index, token0_key, token1_key)
     SELECT pool_key, chain_id, block_number, transaction_index, log_index, address_key(token0), address_key(token1) FROM swaps
     WHERE block_number BETWEEN ${first} AND ${last}`,
  );
  await storeBlocks(scratch.database, eth.id, first, last);
}

beforeAll(async () => {
  const { database } = scratch;
  await seedStage(database);
  await createPartitions(database, 'swaps', eth.id, [CUT]);
  await seedPools(database, eth, [
    { pool: PAIR, tokens: [CATS, WETH] },
    { pool: OTHER, tokens: [DOGS, WETH] },
  ]);
  await seedRange(1, ANALYZED);
  await database.query(sql`ANALYZE`);
  await seedRange(ANALYZED + 1, SWAPS);
});

const WALLET: TradesSubject = { kind: 'wallet', wallet: ANN };
const TOKEN: TradesSubject = { kind: 'token', token: CATS };
const FIRST = { after: null, firstBlock: 0, lastBlock: SWAPS, limit: LIMIT };

const CASES: readonly (readonly [name: string, query: TradesQuery])[] = [
  ['the first part of a wallet', { ...FIRST, subject: WALLET }],
  ['a later part of a wallet', { ...FIRST, subject: WALLET, after: [30_000, 0, 0] }],
  ['a wallet without swaps', { ...FIRST, subject: { kind: 'wallet', wallet: addressOf(0x404) } }],
  ['the first part of a token', { ...FIRST, subject: TOKEN, firstBlock: 15_000 }],
  ['a later part of a token', { ...FIRST, subject: TOKEN, after: [30_000, 0, 0] }],
  ['the wrapped native token', { ...FIRST, subject: { kind: 'token', token: WETH } }],
];
const ofTables = (node: PlanNode): boolean => /^(swaps|trades|blocks|pools)/.test(node['Relation Name'] ?? '');

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  beforeAll(() => prepare(scratch.database));
  // Without fresh statistics, a custom plan may sort the swaps of a wallet. The API uses generic plans.
  const isUnknowing = plan === 'custom' && statistics !== 'with fresh statistics';
  const cases = CASES.filter(([, { subject }]) => subject.kind !== 'wallet' || !isUnknowing);
  const explained = (query: TradesQuery, kind: PlanKind) =>
    explain(
      scratch.database,
      tradesStatement(
        eth,
        query,
        { select: (query.subject.kind === 'wallet' ? WALLET_SWAPS : TOKEN_SWAPS).select },
        false,
      ),
      kind,
    );

  test.each(cases)('%s stops after the part', async (_name, query) => {
    const { nodes } = await explained(query, plan);
    const scans = nodes.filter(ofTables);
    const ofSwaps = scans.filter((node) => !/^pools/.test(node['Relation Name'] ?? ''));
    for (const scan of ofSwaps) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    // At most four ranges, with a swap and a block for each row of the part.
    expect(rowsScanned(ofSwaps)).toBeLessThanOrEqual(6 * (LIMIT + 2));
  });

  test('a part that one partition fills reads no other one', async () => {
    const subject = isUnknowing ? TOKEN : WALLET;
    expect(partitionsRead(await explained({ ...FIRST, subject }, plan), 'swaps')).toEqual([0]);
    expect(partitionsRead(await explained({ ...FIRST, subject, after: [30_000, 0, 0] }, plan), 'swaps')).toEqual([
      CUT,
    ]);
  });

  test('the block after the newest trades of a token is found in a range', async () => {
    const { nodes } = await explain(
      scratch.database,
      cutStatement(eth, { kind: 'token', token: CATS }, SWAPS, LIMIT),
      plan,
    );
    const scans = nodes.filter(ofTables);
    for (const scan of scans) expect(scan['Node Type']).toMatch(/^(Index|Bitmap Heap)/);
    expect(rowsScanned(scans)).toBeLessThanOrEqual(2 * (LIMIT + 2));
  });
});
