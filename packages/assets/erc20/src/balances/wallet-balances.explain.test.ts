import { ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import {
  addressOf,
  coverBlocks,
  createPartitions,
  type Explained,
  exampleChain,
  explain,
  PLANS,
  type PlanKind,
  rowsRead,
  seedBuilt,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { seedCoverage } from '../transfers/testing/seeded-wallets.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { type WalletBalancesQuery, walletBalancesStatement } from './wallet-balances-statement.ts';

// One wallet moved 40,000 tokens, four hundred others 100 each.
const BUSY = addressOf(1);
const BUSY_TOKENS = 40_000;
const LIMIT = 100;
const COIN = addressOf(0xc014);
const chain = exampleChain({ wrappedNative: COIN });

const scratch = scratchOfFile({ autovacuum: false });

beforeAll(async () => {
  const { database } = scratch;
  await createPartitions(database, 'erc20_transfer_sides', chain.id);
  await createPartitions(database, 'wrapped_coin_moves', chain.id);
  await seedBuilt(database, chain.id, erc20WalletTokens);
  await seedCoverage(database, chain, 0, 50_000);
  await coverBlocks(database, 1, 'wrapped-coin-moves', 0, 50_000);
  await wrap(BUSY, 30_000);
  await wrap(addressOf(100_007), 50);
  await hold(addressOf(99_999), 300);
  await database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, name, possible_spam, facts_status)
     SELECT decode(lpad(to_hex(number), 40, '0'), 'hex'), 1, 'erc20', 'Name', number % 4 = 0, 'known' FROM generate_series(1000, 41000) AS number`,
  );
  await database.query(sql`ANALYZE`);
  await hold(BUSY, BUSY_TOKENS);
  for (let wallet = 0; wallet < 400; wallet++) await hold(addressOf(100_000 + wallet), 100);
});

async function hold(wallet: ReturnType<typeof addressOf>, tokens: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, total, moved_block, moved_transaction, moved_log, anchor_block, anchor_value, anchored_at)
     SELECT ${addressBytes(wallet)}, 1, decode(lpad(to_hex(1000 + number), 40, '0'), 'hex'), 5, number, 0, 0, 45000, 5, now() FROM generate_series(1, ${tokens}::int) AS number`,
  );
  await scratch.database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (1, ${erc20WalletTokens.name}, ${addressBytes(wallet)})`,
  );
}

/** Both sides of these deposits, one per block. */
async function wrap(wallet: ReturnType<typeof addressOf>, deposits: number): Promise<void> {
  const [own, zero] = [sql`${addressBytes(wallet)}::bytea`, sql`${addressBytes(ZERO_ADDRESS)}::bytea`];
  await scratch.database.query(
    sql`INSERT INTO wrapped_coin_moves (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value,
       transaction_hash)
     SELECT address_key(account), 1, number, 0, (address_key(${own}) % 1000000)::int, direction, account, ${addressBytes(COIN)}, counterparty, 1, decode(lpad(to_hex(number), 64, '0'), 'hex')
     FROM generate_series(1, ${deposits}::int) AS number
       CROSS JOIN LATERAL (VALUES (${zero}, ${own}, 0), (${own}, ${zero}, 1)) AS side(account, counterparty, direction)`,
  );
}

const explainAnswer = (plan: PlanKind, query: Partial<WalletBalancesQuery> = {}): Promise<Explained> =>
  explain(
    scratch.database,
    walletBalancesStatement(chain, {
      wallet: BUSY,
      tokens: null,
      excludeSpam: false,
      verifiedOnly: false,
      toBlock: null,
      limit: LIMIT,
      order: null,
      liveMaxAgeMs: 60_000,
      freshFrom: null,
      ...query,
    }),
    plan,
  );

describe.each(PLANS)('the $plan plan $statistics', ({ prepare, plan, statistics }) => {
  beforeAll(() => prepare(scratch.database));

  test.each([
    ['newest movements first', {}, LIMIT + 1],
    ['without spam', { excludeSpam: true }, 1.5 * (LIMIT + 1)],
    ['of a small wallet', { wallet: addressOf(100_007) }, LIMIT + 1],
    ['of a wallet without anything', { wallet: addressOf(3) }, 0],
  ] as const)('%s is one range of the index by movement that stops', async (_name, query, most) => {
    const { nodes, text } = await explainAnswer(plan, query);
    const scans = nodes.filter((node) => node['Relation Name'] === 'erc20_wallet_tokens');
    expect(
      scans.map((node) => node['Index Name']),
      text,
    ).toEqual(['erc20_wallet_tokens_by_movement']);
    expect(rowsRead(nodes, 'erc20_wallet_tokens')).toBeLessThanOrEqual(most);
    for (const table of ['tokens', 'erc20_token_classes'])
      expect(rowsRead(nodes, table)).toBeLessThanOrEqual(Math.max(1.5 * (LIMIT + 1), most));
    for (const table of ['erc20_transfer_sides', 'wrapped_coin_moves']) expect(rowsRead(nodes, table)).toBe(0);
  });

  test('named tokens are a look-up by key each', async () => {
    const tokens = Array.from({ length: 20 }, (_, index) => addressOf(2_000 + index));
    const { nodes } = await explainAnswer(plan, { tokens });
    const scans = nodes.filter((node) => node['Relation Name'] === 'erc20_wallet_tokens');
    for (const scan of scans) expect(scan['Index Name']).toMatch(/_pkey$/);
    expect(rowsRead(nodes, 'erc20_wallet_tokens')).toBeLessThanOrEqual(tokens.length);
  });

  test('wraps since a block are one range of the wallet’s', async () => {
    const { nodes } = await explainAnswer(plan, { tokens: [COIN], toBlock: 29_900 });
    expect(rowsRead(nodes, 'wrapped_coin_moves')).toBeLessThanOrEqual(100);
    expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toContainEqual(
      expect.stringContaining('wrapped_coin_moves'),
    );
  });

  // No index has their order, and with statistics of a nearly empty table a full scan looks cheapest.
  test.skipIf(statistics === 'with old statistics')(
    'pages of a small wallet read that wallet alone',
    async () => {
      const order = { pinned: 50_000, depth: 64, after: null };
      const { nodes } = await explainAnswer(plan, { wallet: addressOf(100_007), order, toBlock: 50_000 });
      expect(rowsRead(nodes, 'erc20_wallet_tokens')).toBeLessThanOrEqual(100);
      expect(rowsRead(nodes, 'wrapped_coin_moves')).toBe(0);
      for (const node of nodes.filter((one) => one['Relation Name'] === 'erc20_wallet_tokens'))
        expect(node['Node Type']).not.toBe('Seq Scan');
    },
  );
});
