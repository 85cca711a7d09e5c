/** Views of wrapped native token balances: as in the API, they include indexed deposits and withdrawals. */
import { createChainRegistry } from '@chainstead/chains';
import { addressBytes, sql } from '@chainstead/db';
import { addressOf, coverBlocks } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { seedPriceSources } from '@chainstead/tokens/price-feeds';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

const polygon = createChainRegistry().get('polygon');
const [WALLET, COIN, BRIDGED] = [addressOf(0xa11ce), polygon.wrappedNative, polygon.bridgedEther];

const scratch = scratchOfFile();
beforeAll(async () => {
  await seedPriceSources(scratch.database, polygon);
});

/** Transfers of blocks 5 to 900 are indexed, and all of them counted. Contracts said 700 after block 6; 50 have gone since. */
beforeEach(async () => {
  const { database } = scratch;
  await database.query(
    sql`TRUNCATE projections, subject_projections, erc20_wallet_tokens, erc20_holders, erc20_token_classes, sync_ranges, subject_ranges`,
  );
  await database.query(
    sql`INSERT INTO projections (chain_id, state, dataset, version, status, position)
     SELECT ${polygon.id}, state, 'erc20-transfers', 2, 'built', 0 FROM unnest(ARRAY['erc20-wallet-tokens', 'erc20-token-holders']) AS given(state)`,
  );
  await database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject)
     VALUES (${polygon.id}, 'erc20-wallet-tokens', ${addressBytes(WALLET)}), (${polygon.id}, 'erc20-token-holders', ${addressBytes(COIN ?? WALLET)}),
       (${polygon.id}, 'erc20-token-holders', ${addressBytes(BRIDGED ?? WALLET)})`,
  );
  for (const token of [COIN, BRIDGED].map((one) => addressBytes(one ?? WALLET))) {
    await database.query(
      sql`INSERT INTO erc20_token_classes (chain_id, token, class, since_block) VALUES (${polygon.id}, ${token}, 'sum', 6)`,
    );
    await database.query(
      sql`INSERT INTO erc20_wallet_tokens (chain_id, wallet, token, total, moved_block, anchor_block, anchor_value, since, anchored_at)
       VALUES (${polygon.id}, ${addressBytes(WALLET)}, ${token}, 600, 8, 6, 700, -50, now())`,
    );
    await database.query(
      sql`INSERT INTO erc20_holders (chain_id, account, token, total, moves, anchor_block, anchor_value, since, anchored_at)
       VALUES (${polygon.id}, ${addressBytes(WALLET)}, ${token}, 600, 4, 6, 700, -50, now())`,
    );
  }
  await cover('erc20-transfers', 5, 900);
});

async function cover(dataset: string, from: number, to: number): Promise<void> {
  await coverBlocks(scratch.database, polygon.id, dataset, from, to, 'none');
}

/** Balance of the wallet in one view, and of the holder in the other. */
async function reported(token: typeof COIN): Promise<readonly string[]> {
  return scratch.database.transaction(async (transaction) => {
    await transaction.query(sql`SET LOCAL ROLE chainstead_reader`);
    const rows = await transaction.query<{ line: string }>(
      sql`SELECT concat_ws(' ', base_units, balance_block, source) AS line FROM analytics.erc20_balances WHERE token_address = ${token}
       UNION ALL SELECT concat_ws(' ', base_units, balance_block, source) FROM analytics.erc20_holders WHERE token_address = ${token}`,
    );
    return rows.map(({ line }) => line);
  });
}

const twice = (line: string): readonly string[] => [line, line];
const MOVED_SINCE = twice('650 900 contract and transfers');
const AS_READ = twice('700 6 contract');

describe('a balance of the wrapped coin', () => {
  test('is what the contract said and what moved since, where both are indexed from then on', async () => {
    await cover('wrapped-coin-moves', 7, 900);
    expect(await reported(COIN)).toEqual(MOVED_SINCE);
  });

  test.each([
    ['are not indexed', []],
    ['begin above the reading', [[8, 900]]],
    ['end elsewhere', [[5, 899]]],
    [
      'are missing between',
      [
        [5, 100],
        [102, 900],
      ],
    ],
  ] as const)('stands as it was read where deposits %s', async (_what, ranges) => {
    for (const [from, to] of ranges) await cover('wrapped-coin-moves', from, to);
    expect(await reported(COIN)).toEqual(AS_READ);
  });

  test('counts blocks that were read of the wallet or the coin alone', async () => {
    await cover('wrapped-coin-moves', 102, 900);
    for (const [kind, subject] of [
      ['wallet', WALLET],
      ['contract', COIN ?? WALLET],
    ] as const)
      await scratch.database.query(
        sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block) VALUES (${polygon.id}, ${kind}, ${addressBytes(subject)}, 'wrapped-coin-moves', 5, 101)`,
      );
    expect(await reported(COIN)).toEqual(MOVED_SINCE);
  });
});

test('bridged ether is a token like others', async () => {
  expect(await reported(BRIDGED)).toEqual(MOVED_SINCE);
});
