import { readFileSync } from 'node:fs';
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { MIGRATIONS_FOLDER, openDatabase } from '@chainstead/db/server';
import { createPartitions, createScratchDatabase, hashOf, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { asAnalyst, indexedPlan } from './testing/as-analyst.ts';
import {
  BIGGEST,
  DOCUMENTED_QUERIES,
  EXCHANGE,
  FRIEND,
  seedAnalytics,
  UNKNOWN,
  USDC,
  VIEWS_DOCUMENT,
  WALLET,
} from './testing/seeded-analytics.ts';
import { REBASING } from './testing/seeded-balances.ts';
import { APES, COLLECTOR } from './testing/seeded-nfts.ts';
import { OTHER_POOL, POOL, UNPROVEN_POOL, WETH } from './testing/seeded-pools.ts';

const MIGRATION = readFileSync(`${MIGRATIONS_FOLDER}/0000_initial.sql`, 'utf8');

const eth = createChainRegistry().get('eth');

const scratch = scratchOfFile();

beforeAll(async () => {
  await seedAnalytics(scratch.database, eth);
});

const asReader = <Row extends object>(sql: string): Promise<Row[]> => asAnalyst(scratch.database, sql);

const day = (block: number): Date => new Date(Math.floor(timestampOf(block) / 86_400) * 86_400_000);
const hour = (block: number): Date => new Date(Math.floor(timestampOf(block) / 3_600) * 3_600_000);

/** What each query of the document must give on the seeded rows. */
const EXPECTED: readonly (readonly object[])[] = [
  [
    { direction: 'in', token_symbol: null, amount: null },
    { direction: 'out', amount: '0.5' },
    { direction: 'self', amount: '0.000007' },
    { direction: 'out', amount: '1.000001' },
    { direction: 'in', amount: '2.5', token_symbol: 'USDC', counterparty: ZERO_ADDRESS },
  ],
  [{ token_symbol: 'USDC', token_address: USDC, balance: '0.999999' }],
  [{ day: day(1), transfers: 5, senders: 3, volume: '4.400008' }],
  [
    { amount: '2.5', from_address: ZERO_ADDRESS, to_address: WALLET },
    { amount: '1.000001' },
    { amount: '0.5' },
    { amount: '0.4' },
    { amount: '0.000007' },
  ],
  [
    { wallet: WALLET, balance: '0.999999' },
    { wallet: EXCHANGE, balance: '0.600001' },
    { wallet: FRIEND, balance: '0.4' },
  ],
  [
    { counterparty: ZERO_ADDRESS, transfers: 2 },
    { counterparty: FRIEND, transfers: 1 },
    { counterparty: WALLET },
    { counterparty: EXCHANGE, label: 'Exchange 1' },
  ],
  [{ day: day(1), minted: '2.5', burnt: '0.5' }],
  [{ entity: 'Exchange', token_symbol: 'USDC', received: '1.000001', sent: '0.4', net: '0.600001' }],
  [
    {
      chain_id: 1,
      dataset: 'erc20-transfers',
      first_block: 0,
      last_block: 8,
      blocks: '8',
      proven_percent: '50.0',
      missing_blocks: '1',
    },
  ],
  [{ upstream: 'liar.example', kind: 'missing-logs', blocks: 1, times: 3 }],
  [{ day: expect.anything(), sales: '3', volume: '12.75', lowest: '1.5', highest: '9' }],
  [
    { price: '2.25', price_usd: '4500.00', buyer: COLLECTOR, transaction_hash: hashOf(2, 20_000) },
    { price: '0', price_usd: '0.00' },
    { price: '1.5', price_usd: null },
  ],
  [
    { marketplace: 'opensea', payment_symbol: 'ETH', trades: 3, volume: '3.75', wash_percent: '0.0', gifts: 1 },
    { marketplace: 'blur', trades: 1, wash_percent: '100.0' },
    { marketplace: 'cryptopunks', payment_symbol: 'ETH', volume: '60' },
    { marketplace: 'opensea', payment_symbol: 'WETH', volume: '0.5' },
  ],
  [
    { owner: COLLECTOR, ids: 3, units: '4', percent: '80.00' },
    { owner: WALLET, ids: 1, units: '1', percent: '20.00' },
  ],
  [
    {
      collection_name: 'Apes',
      token_id: '1',
      payment_symbol: 'ETH',
      bought_for: '1.5',
      sold_for: '2.25',
      gain: '0.75',
    },
  ],
  [
    { token_symbol: 'stETH', token_address: REBASING, balance: '2.5', balance_block: 8, source: 'contract' },
    {
      token_symbol: 'USDC',
      balance: '0.999999',
      balance_block: 8,
      source: 'contract and transfers',
      from_block: 5,
    },
    { token_address: UNKNOWN, balance: null, balance_block: 2, source: 'contract' },
  ],
  [
    { state: 'erc20-token-holders', addresses: 1, counted: 1, from_the_start: 0, lowest: 5 },
    { state: 'erc20-wallet-tokens', addresses: 2, counted: 1, from_the_start: 0, lowest: 5 },
  ],
  [
    { holder: WALLET, balance: '0.999999', percent_of_supply: '50.00', source: 'contract and transfers' },
    { holder: EXCHANGE, balance: '0.600001', percent_of_supply: '30.00', source: 'transfers', balance_block: 8 },
    { holder: FRIEND, balance: '0.4', percent_of_supply: '20.00' },
  ],
  [{ token_symbol: 'USDC', holders: 3, largest_ten_percent: '100.00', from_block: 5 }],
  [{ token_symbol: 'USDC', spender: EXCHANGE, at_risk: '0.999999' }],
  [{ transactions: 4, failed: 1, fees: '0.00141' }],
  [{ active: 2, new: 2 }],
  [{ contract: USDC, calls: 3, callers: 2, gas: '120000', percent_of_gas: '100.00', fees: '0.0012' }],
  [
    { method: '0xa9059cbb', calls: 2, failed: 1, gas: '40000' },
    { method: '0x095ea7b3', calls: 1, failed: 0, gas: '40000' },
  ],
  [{ sent: 3, failed: 1, fees: '0.00101', coins_sent: '2.5' }],
  [
    {
      ...{
        day: day(1),
        blocks: 4,
        percent_full: '35.25',
        gwei: '8.00',
        highest_gwei: '8.00',
        transactions: '1.0',
      },
      base_fees: '0.001128',
    },
  ],
  [
    {
      ...{ exchange: 'Uniswap v3', token0_symbol: 'USDC', token0_amount: '-500' },
      ...{ token1_symbol: 'WETH', token1_amount: '0.25', wallet: FRIEND },
    },
    { token0_amount: '1000', token1_amount: '-0.5', wallet: WALLET, transaction_hash: hashOf(2, 2) },
  ],
  [{ hour: hour(2), swaps: 2, wallets: 2, volume0: '1500', volume1: '0.75' }],
  [
    { pool: OTHER_POOL, exchange: 'Uniswap v2', proof: 'creation', proof_block: 2, fee: null },
    { pool: POOL, exchange: 'Uniswap v3', proof: 'address', proof_block: null, fee: 500, is_counted: true },
  ],
  [
    { block_number: 5, role: 'sender', exchange: null, pool: UNPROVEN_POOL },
    { block_number: 3, role: 'beneficiary', exchange: 'Uniswap v3', amount0: '-500000000' },
    { block_number: 2, role: 'sender', exchange: 'Uniswap v3', pool: POOL, amount1: '-500000000000000000' },
  ],
  [
    { exchange: 'Uniswap v2', proven: 1, by_creation: 1, waiting: 0, percent_of_pools: '25.00' },
    { exchange: 'Uniswap v3', proven: 1, by_address: 1, by_factory: 0, percent_of_pools: '25.00' },
    { exchange: null, proven: 0, waiting: 1, disproved: 1, percent_of_pools: '50.00' },
  ],
  // Rows are tested next to the values of the views.
  [],
];

/** Rows of imports, chains and operators: they don't grow with blocks. */
const SMALL_TABLES = new Set(['address_labels', 'price_feed_phases', 'sync_ranges', 'upstream_errors']);

describe('docs/api/sql.md and docs/api/sql-examples.md', () => {
  test('has thirty-two queries', () => {
    expect(DOCUMENTED_QUERIES).toHaveLength(32);
    expect(EXPECTED).toHaveLength(32);
  });

  test('says by which state what is derived lacks rows', async () => {
    await scratch.database.query(
      sql`INSERT INTO projections (chain_id, state, dataset, version, status, position)
       VALUES (1, 'nft-sale-days', 'nft-trades', 2, 'building', 17), (2, 'nft-sale-days', 'nft-trades', 1, 'built', 0)`,
    );
    const query =
      'SELECT state, dataset, version, status, built_to FROM analytics.projections ORDER BY state, chain_id';
    expect(await asReader(query)).toEqual([
      { state: 'erc20-token-holders', dataset: 'erc20-transfers', version: 2, status: 'built', built_to: null },
      { state: 'erc20-wallet-tokens', dataset: 'erc20-transfers', version: 2, status: 'built', built_to: null },
      { state: 'nft-sale-days', dataset: 'nft-trades', version: 2, status: 'building', built_to: 17 },
      { state: 'nft-sale-days', dataset: 'nft-trades', version: 1, status: 'built', built_to: null },
    ]);
    for (const { state } of await asReader<{ state: string }>(query))
      expect(VIEWS_DOCUMENT).toContain(`\`${state}\``);
  });

  test.each(DOCUMENTED_QUERIES.map(([title, sql], index) => ({ title, sql, index })))(
    '$title',
    async ({ sql, index }) => {
      expect(await asReader(sql)).toMatchObject(EXPECTED[index] ?? []);
    },
  );

  test.each(DOCUMENTED_QUERIES.map(([title, sql]) => ({ title, sql })))(
    '$title uses an index of each large table',
    async ({ sql }) => {
      const lines = (await indexedPlan(scratch.database, sql)).split('\n');
      const whole = lines.flatMap((line, index) => {
        const table = /(?:Seq|Index|Index Only) Scan .*?on (\w+)/.exec(line)?.[1];
        return table === undefined || / Cond: /.test(lines[index + 1] ?? '') ? [] : [table];
      });
      expect(whole.filter((table) => !SMALL_TABLES.has(table))).toEqual([]);
    },
  );

  test('show a condition that an index serves', async () => {
    const [, sql = ''] = /^```sql\n([^`]*)```/m.exec(VIEWS_DOCUMENT) ?? [];
    expect(await asReader(sql)).toEqual([{ count: 5 }]);
    expect(await indexedPlan(scratch.database, sql)).toContain(`account_key = '${addressKey(WALLET)}'::bigint`);
  });

  test('names every view there is', async () => {
    const views = await asReader<{ table_name: string }>(
      `SELECT table_name FROM information_schema.views WHERE table_schema = 'analytics'`,
    );
    expect(views.length).toBeGreaterThanOrEqual(6);
    for (const { table_name } of views) expect(VIEWS_DOCUMENT).toContain(`\`analytics.${table_name}\``);
  });

  test.each([
    ['a wallet’s balances', 15, 'wallet', WALLET],
    ['a token’s holders', 17, 'token', USDC],
  ] as const)('%s are found by an index, as told', async (_what, query, column, address) => {
    const sql = DOCUMENTED_QUERIES[query]?.[1] ?? '';
    expect(await indexedPlan(scratch.database, sql)).toContain(
      `Index Cond: ((${column} = '\\x${address.slice(2)}'::bytea) AND (chain_id = 1)`,
    );
  });

  test.each([
    ['swaps of a pool', 26, [`Index Cond: ((pool_key = '${addressKey(POOL)}'::bigint) AND (chain_id = 1)`]],
    [
      'swaps of a pool by hour',
      27,
      [`Index Cond: ((pool_key = '${addressKey(POOL)}'::bigint) AND (chain_id = 1) AND (block_number > `],
    ],
    // Either index by token has both keys.
    ['pools of a token', 28, ['Index Scan using pools_by_token']],
    [
      'swaps of a wallet',
      29,
      ['wallet', 'beneficiary'].map(
        (column) => `Index Cond: (((('x'::text || encode((SUBSTRING(${column} FROM 1 FOR 4)`,
      ),
    ],
  ] as const)('%s are found by an index, as told', async (_what, query, conditions) => {
    const plan = await indexedPlan(scratch.database, DOCUMENTED_QUERIES[query]?.[1] ?? '');
    for (const condition of conditions) expect(plan).toContain(condition);
  });

  test('a wallet is found by an index, as told', async () => {
    const sql = DOCUMENTED_QUERIES[0]?.[1] ?? '';
    expect(await indexedPlan(scratch.database, sql)).toContain(
      `Index Cond: ((account_key = '${addressKey(WALLET)}'::bigint) AND (chain_id = 1))`,
    );
  });
});

describe('the views', () => {
  test('keep amounts exact, and wait for decimals', async () => {
    const rows = await asReader<{ base_units: string; amount: string | null }>(
      'SELECT base_units, amount FROM analytics.erc20_transfers ORDER BY block_number DESC LIMIT 1',
    );
    expect(rows).toEqual([{ base_units: BIGGEST.toString(), amount: null }]);
    const [exact] = await scratch.database.query(
      sql`SELECT analytics.amount((2::numeric ^ 256 - 1), 18::smallint)::text AS many, analytics.amount(1, 255::smallint) = ('1e-255')::numeric AS tiny`,
    );
    expect(exact).toEqual({
      many: '115792089237316195423570985008687907853269984665640564039457.584007913129639935',
      tiny: true,
    });
  });

  test('show NFTs: transfers, holdings, collections, days of sales, prices of ether', async () => {
    const one = async (sql: string): Promise<object[]> => asReader(sql);
    expect(
      await one(
        'SELECT event, token_id, amount, collection_name, block_time FROM analytics.nft_transfers WHERE block_number = 5',
      ),
    ).toEqual([
      {
        event: 'erc721',
        token_id: (2n ** 256n - 1n).toString(),
        amount: '1',
        collection_name: 'Apes',
        block_time: new Date(timestampOf(5) * 1000),
      },
    ]);
    expect(
      await one('SELECT wallet, token_address, ids_held FROM analytics.nft_holdings ORDER BY ids_held DESC'),
    ).toEqual([
      { wallet: COLLECTOR, token_address: APES, ids_held: 3 },
      { wallet: WALLET, token_address: APES, ids_held: 1 },
    ]);
    expect(
      await one(`SELECT name, category, metadata_status FROM analytics.nft_collections ORDER BY name`),
    ).toEqual([
      { name: 'Apes', category: 'pfps', metadata_status: 'known' },
      { name: 'Collectible', category: null, metadata_status: null },
    ]);
    expect(await one('SELECT usd, block_number FROM analytics.ether_prices ORDER BY block_number')).toEqual([
      { usd: '2000', block_number: 15 },
      { usd: '3000.5', block_number: 25 },
    ]);
    expect(
      await one(`SELECT token_id, sales, average, payment_token FROM analytics.nft_sale_days ORDER BY token_id`),
    ).toEqual([
      { token_id: '1', sales: 3, average: '4.25', payment_token: null },
      { token_id: null, sales: 3, average: '4.25', payment_token: null },
    ]);
  });

  test('show each deposit and withdrawal of the wrapped coin once', async () => {
    const { database } = scratch;
    await createPartitions(database, 'wrapped_coin_moves', eth.id);
    for (const [block, isDeposit, amount] of [
      [5, true, '1500000'],
      [6, false, '500000'],
    ] as const)
      for (const [account, counterparty, direction] of [
        [ZERO_ADDRESS, WALLET, isDeposit ? 0 : 1],
        [WALLET, ZERO_ADDRESS, isDeposit ? 1 : 0],
      ] as const)
        await database.query(
          sql`INSERT INTO wrapped_coin_moves (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token,
             counterparty, value, transaction_hash)
           SELECT address_key(account), ${eth.id}, ${block}, 0, 0, ${direction}, account, ${addressBytes(USDC)}, ${addressBytes(counterparty)},
             ${amount}::numeric, ${hexBytes(hashOf(2, block))} FROM (VALUES (${addressBytes(account)}::bytea)) AS given (account)`,
        );
    expect(
      await asReader(
        'SELECT kind, account, amount, token_symbol, block_number FROM analytics.wrapped_coin_moves ORDER BY block_number',
      ),
    ).toEqual([
      { kind: 'deposit', account: WALLET, amount: '1.5', token_symbol: 'USDC', block_number: 5 },
      { kind: 'withdrawal', account: WALLET, amount: '0.5', token_symbol: 'USDC', block_number: 6 },
    ]);
  });

  test('show the price of an accepted Punk bid, in dollars too', async () => {
    expect(
      await asReader(
        `SELECT price, price_usd, is_zero_price FROM analytics.nft_trades WHERE marketplace = 'cryptopunks'`,
      ),
    ).toEqual([{ price: '60', price_usd: '180030.00', is_zero_price: false }]);
  });

  test('show the value of swaps and transfers, by the feed of ether or the candles of a pool', async () => {
    const { database } = scratch;
    const [pool, weth] = [addressBytes(POOL), addressBytes(WETH)];
    const place = { swap: 26, transfer: 16 };
    await database.query(
      sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, amount0, amount1, wallet, transaction_hash)
       VALUES (address_key(${pool}), 1, ${place.swap}, 0, 1, 0, ${pool}, 1500250000, -500000000000000000, ${addressBytes(FRIEND)}, ${hexBytes(hashOf(2, 26))})`,
    );
    await database.query(
      sql`INSERT INTO erc20_transfer_sides (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
       VALUES (address_key(${addressBytes(FRIEND)}), 1, ${place.transfer}, 0, 1, 0, ${addressBytes(FRIEND)}, ${weth}, ${addressBytes(EXCHANGE)}, 250000000000000000, ${hexBytes(hashOf(2, 16))})`,
    );
    expect(
      await asReader(
        `SELECT token0_symbol, token1_decimals, token0_amount, token1_amount, amount_usd FROM analytics.swaps WHERE block_number IN (3, ${place.swap}) ORDER BY block_number`,
      ),
    ).toEqual([
      {
        token0_symbol: 'USDC',
        token1_decimals: 18,
        token0_amount: '-500',
        token1_amount: '0.25',
        amount_usd: '500.00',
      },
      {
        ...{ token0_symbol: 'USDC', token1_decimals: 18, token0_amount: '1500.25', token1_amount: '-0.5' },
        amount_usd: '1500.25',
      },
    ]);
    for (const view of ['erc20_transfers', 'wallet_transfers'])
      expect(
        await asReader(
          `SELECT token_decimals, amount, amount_usd FROM analytics.${view}
           WHERE token_key = analytics.token_key('${WETH}') AND token_bytes = analytics.bytes('${WETH}')`,
        ),
      ).toEqual([{ token_decimals: 18, amount: '0.25', amount_usd: '500.00' }]);
    expect(await asReader(DOCUMENTED_QUERIES.at(-1)?.[1] ?? '')).toMatchObject([
      { amount: '0.25', token_symbol: 'WETH', amount_usd: '500.00' },
    ]);
    await database.query(sql`DELETE FROM swaps WHERE block_number = ${place.swap}`);
    await database.query(sql`DELETE FROM erc20_transfer_sides WHERE block_number = ${place.transfer}`);
  });

  test('show a transfer once among transfers, and once for each side among wallets’', async () => {
    const [counts] = await asReader(
      'SELECT (SELECT count(*) FROM analytics.erc20_transfers) AS transfers, (SELECT count(*) FROM analytics.wallet_transfers) AS sides',
    );
    expect(counts).toEqual({ transfers: 6, sides: 11 });
  });
});

describe('the role chainstead_reader', () => {
  test('reads the views and nothing else, and writes nothing', async () => {
    await expect(asReader('SELECT 1 FROM public.api_keys')).rejects.toThrow(/permission denied/);
    await expect(asReader('SELECT 1 FROM public.erc20_transfer_sides')).rejects.toThrow(/permission denied/);
    await expect(asReader('DELETE FROM analytics.tokens')).rejects.toThrow(/permission denied/);
    const [role] = await scratch.database.query(
      sql`SELECT rolcanlogin FROM pg_roles WHERE rolname = 'chainstead_reader'`,
    );
    expect(role).toEqual({ rolcanlogin: false });
  });

  test('is made by whoever comes first when several databases are migrated at once', async () => {
    const role = `racing_reader_${Date.now()}`;
    const others = await Promise.all([
      createScratchDatabase({ migrated: false }),
      createScratchDatabase({ migrated: false }),
      createScratchDatabase({ migrated: false }),
    ]);
    try {
      await Promise.all(others.map(({ database }) => migrateAs(database, role)));
      for (const { database } of others)
        expect(
          await database.query(sql`SELECT has_table_privilege(${role}, 'analytics.tokens', 'SELECT') AS may`),
        ).toEqual([{ may: true }]);
    } finally {
      await Promise.all(others.map((other) => other.drop()));
      await scratch.database.query(sql`DROP ROLE IF EXISTS ${rawSql(role)}`);
    }
  });

  test('is not needed: a user who may not create roles gets a notice and the views', async () => {
    const user = `migrator_${Date.now()}`;
    const other = await createScratchDatabase({ migrated: false });
    const notices: string[] = [];
    try {
      await other.database.query(sql`CREATE ROLE ${rawSql(user)} LOGIN PASSWORD 'secret'`);
      await other.database.query(
        sql`GRANT CREATE ON DATABASE ${rawSql(new URL(other.url).pathname.slice(1))} TO ${rawSql(user)}`,
      );
      await other.database.query(sql`GRANT CREATE ON SCHEMA public TO ${rawSql(user)}`);
      const url = new URL(other.url);
      url.username = user;
      url.password = 'secret';
      const limited = openDatabase({ url: url.href, applicationName: 'test', logger: silentLogger() });
      try {
        await limited.transaction(async ({ client }) => {
          client.on('notice', (notice) => notices.push(String(notice.message)));
          // The role exists on this server, so its absence is played by another name.
          await client.query(MIGRATION.replaceAll('chainstead_reader', `${user}_reader`));
        });
        expect(await limited.query(sql`SELECT count(*) FROM analytics.tokens`)).toEqual([{ count: 0 }]);
      } finally {
        await limited.close();
      }
      expect(notices.join('\n')).toContain(`${user} may not create roles`);
    } finally {
      await other.database.query(sql`DROP OWNED BY ${rawSql(user)}`);
      await other.database.query(sql`DROP ROLE ${rawSql(user)}`);
      await other.drop();
    }
  });
});

/** The migration with a role that the server does not have yet. */
async function migrateAs(database: Database, role: string): Promise<void> {
  await database.transaction(async ({ client }) => {
    await client.query(MIGRATION.replaceAll('chainstead_reader', role));
  });
}
