import { addressBytes, sql } from '@chainstead/db';
import { addressOf, createPartitions, exampleChain, explain, PLANS, rowsRead } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import type { HistoryQuery } from './history-query.ts';
import { placesPage } from './places-page.ts';

// The busy wallet has a part in each transaction, in each of the tables: three legs of a token in each, and two
// internal transfers.
const BLOCKS = 4_000;
const CUTS = [1_000, 2_000, 3_000];
const WHALE = addressOf(0xa11ce);
const LIMIT = 25;
const TABLES = [
  'account_transactions',
  'erc20_transfer_sides',
  'nft_transfers',
  'erc20_approvals',
  'internal_transfers',
];
const chain = exampleChain();

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  for (const table of TABLES) await createPartitions(scratch.database, table, chain.id, CUTS);
  // Statistics of a small table, as they are while one grows.
  await seed(0, 100);
  await scratch.database.query(sql`ANALYZE`);
  await seed(100, BLOCKS);
});

async function seed(from: number, below: number): Promise<void> {
  const { database } = scratch;
  const [whale, other] = [sql`${addressBytes(WHALE)}::bytea`, sql`${addressBytes(addressOf(7))}::bytea`];
  const blocks = sql`generate_series(${from}::int, ${below}::int - 1) AS block, generate_series(0, 1) AS place`;
  const hash = sql`sha256((block * 2 + place)::text::bytea)`;
  await database.query(
    sql`INSERT INTO erc20_transfer_sides (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
     SELECT address_key(${whale}), ${chain.id}, block, place, leg, 0, ${whale}, ${other}, ${other}, 1, ${hash} FROM ${blocks}, generate_series(0, 2) AS leg`,
  );
  await database.query(
    sql`INSERT INTO nft_transfers (collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id, from_address, to_address, amount, transaction_hash)
     SELECT address_key(${other}), ${chain.id}, block, place, 5 + side, 0, 0, ${other}, block, CASE side WHEN 0 THEN ${whale} ELSE ${other} END, CASE side WHEN 0 THEN ${other} ELSE ${whale} END, 1, ${hash}
     FROM ${blocks}, generate_series(0, 1) AS side`,
  );
  await database.query(
    sql`INSERT INTO erc20_approvals (owner_key, chain_id, block_number, transaction_index, log_index, owner, token, spender, value, transaction_hash)
     SELECT address_key(${whale}), ${chain.id}, block, place, 9, ${whale}, ${other}, ${other}, 1, ${hash} FROM ${blocks}`,
  );
  await database.query(
    sql`INSERT INTO internal_transfers (account_key, chain_id, block_number, transaction_index, trace_index, direction, account, counterparty, value, transaction_hash, type)
     SELECT address_key(${whale}), ${chain.id}, block, place, call, 1, ${whale}, ${other}, 1, ${hash}, 'CALL' FROM ${blocks}, generate_series(0, 1) AS call`,
  );
  await database.query(
    sql`INSERT INTO account_transactions (account_key, chain_id, transaction_key, block_number, transaction_index, evidence, roles, account)
     SELECT address_key(${whale}), ${chain.id}, block * 2 + place, block, place, 0, 1, ${whale} FROM ${blocks}`,
  );
}

const NO_BOUNDS = { fromBlock: null, toBlock: null, fromDate: null, toDate: null, pinnedBlock: null };
const CASES: readonly (readonly [name: string, query: Partial<HistoryQuery>])[] = [
  ['the newest', {}],
  ['the oldest', { order: 'ASC' }],
  ['a later page', { after: { block: 1_500, transaction: 0 }, pinnedBlock: BLOCKS }],
  ['from a block on', { fromBlock: 3_990 }],
  ['up to a block', { toBlock: 500 }],
];

describe.each(PLANS)('with a $plan plan and $statistics statistics', ({ plan, statistics, prepare }) => {
  beforeAll(() => prepare(scratch.database));

  test.each(CASES)('%s of a busy wallet are a few entries of each index', async (_name, query) => {
    const requested: HistoryQuery = {
      wallet: WHALE,
      order: 'DESC',
      limit: LIMIT,
      after: null,
      ...NO_BOUNDS,
      ...query,
    };
    const { nodes } = await explain(scratch.database, placesPage(chain, requested).statement(), plan);
    // Three legs of a token in each transaction, two of native tokens, of NFTs one for each side; a range ends within
    // the last transaction.
    const entries = TABLES.map((table) => rowsRead(nodes, table));
    // If the planner knows the values but has no statistics of an expression index, it expects a handful of rows of a
    // wallet, and sorts them.
    const isGuess = plan === 'custom' && statistics === 'without statistics';
    for (const [place, legs] of [1, 3, 2, 1, 2].entries()) {
      expect(entries[place], TABLES[place]).toBeGreaterThan(0);
      if (isGuess && TABLES[place] === 'nft_transfers') continue;
      expect(entries[place], TABLES[place]).toBeLessThanOrEqual(legs * (LIMIT + 2));
    }
  });
});
