/** Each piece of a token's holders, or of a wallet's tokens, costs its own rows, however many are stored already. */
import { createChainRegistry } from '@chainstead/chains';
import { hexBytes, rawSql, sql } from '@chainstead/db';
import { LOCAL_ACCESS } from '@chainstead/sync/ingest';
import { addressOf, explain, PLANS, rowsRead, storeBlocks } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { erc20TokenHolders } from './token-holders.ts';
import { erc20WalletTokens } from './wallet-tokens.ts';

const eth = createChainRegistry().get('eth');
const TOKEN = hexBytes(addressOf(0x70));
const HOLDERS = 20_000;
const MOVES = 500;

const scratch = scratchOfFile({ autovacuum: false });

const account = (number: string) => `(int4send(${number}) || '\\x${'00'.repeat(16)}'::bytea)`;

async function seedHolders(first: number, last: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO erc20_holders (token, chain_id, account, total, moves, first_block, first_transaction)
     SELECT ${TOKEN}, ${eth.id}, ${rawSql(account('number'))}, 5, 1, 1, 0 FROM generate_series(${first}::int, ${last}::int) AS number`,
  );
}

/** The same accounts as tokens of one wallet. */
async function seedTokens(first: number, last: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, total, moved_block, moved_transaction, moved_log)
     SELECT ${TOKEN}, ${eth.id}, ${rawSql(account('number'))}, 5, 1, 0, 0 FROM generate_series(${first}::int, ${last}::int) AS number`,
  );
}

beforeAll(async () => {
  const { database } = scratch;
  await seedHolders(1, 100);
  await seedTokens(1, 100);
  await database.query(
    sql`INSERT INTO erc20_holder_counts (token, chain_id, transfers, holders, supply, top_block, is_exact) VALUES (${TOKEN}, ${eth.id}, ${rawSql(HOLDERS)}, ${rawSql(HOLDERS)}, 100000, 1, true)`,
  );
  await storeBlocks(database, eth.id, 1, MOVES + 1);
  await database.query(sql`ANALYZE`);
  await seedHolders(101, HOLDERS);
  await seedTokens(101, HOLDERS);
  await database.query(
    sql`CREATE TABLE changed_rows AS SELECT ${TOKEN}::bytea AS token, ${eth.id}::bigint AS chain_id, number + 1 AS block_number, number AS transaction_index, number AS log_index,
       ${rawSql(account('number * 7'))} AS account, ${rawSql(account('number + 30000'))} AS counterparty, 1::numeric AS value, 0::smallint AS direction
     FROM generate_series(1, ${rawSql(MOVES)}) AS number`,
  );
  await database.query(
    sql`CREATE TABLE rows_of_wallet AS SELECT token AS account, chain_id, block_number, transaction_index, log_index, account AS token, counterparty, value, direction FROM changed_rows`,
  );
});

const change = {
  rows: rawSql('changed_rows'),
  subjects: sql`(SELECT ${TOKEN}::bytea AS subject, ${Number.MAX_SAFE_INTEGER}::bigint AS built_to)`,
  access: LOCAL_ACCESS,
};

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan }) => {
  beforeAll(() => prepare(scratch.database));

  test('reads no stored holder several times', async () => {
    for (const statement of erc20TokenHolders.added(change)) {
      const { nodes } = await explain(scratch.database, statement, plan);
      // By their keys, or all of them once; a transfer has two sides.
      expect(rowsRead(nodes, 'erc20_holders')).toBeLessThanOrEqual(HOLDERS + 2 * MOVES);
    }
  });

  test('reads no stored token of a wallet several times', async () => {
    for (const statement of erc20WalletTokens.added({ ...change, rows: rawSql('rows_of_wallet') })) {
      const { nodes } = await explain(scratch.database, statement, plan);
      expect(rowsRead(nodes, 'erc20_wallet_tokens')).toBeLessThanOrEqual(HOLDERS + MOVES);
    }
  });
});
