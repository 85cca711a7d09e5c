import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { seedCoverage, seedTransfers } from '@chainstead/erc20/testing';
import { addressOf } from '@chainstead/testkit';
import { seedBalances } from './seeded-balances.ts';
import { seedNfts } from './seeded-nfts.ts';
import { seedPools } from './seeded-pools.ts';
import { seedTransactions } from './seeded-transactions.ts';

/** The addresses in the queries of docs/api/sql-examples.md, and others. */
export const WALLET = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' as Address;
export const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48' as Address;
export const UNKNOWN = addressOf(0x404);
export const EXCHANGE = addressOf(0xe1);
export const FRIEND = addressOf(0xb0b);
export const BIGGEST = 123_456_789_012_345_678_901_234_567_890n;
const NFT = addressOf(0x721);

const readDocument = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../../../docs/api/${name}`, import.meta.url)), 'utf8');

/** The page that lists the views. */
export const VIEWS_DOCUMENT = readDocument('sql.md');

/** Each query of docs/api/sql-examples.md by its heading. */
export const DOCUMENTED_QUERIES: readonly (readonly [title: string, sql: string])[] = [
  ...readDocument('sql-examples.md').matchAll(/^### (\d+\. .*)\n[^#]*?```sql\n([^`]*)```/gm),
].map((match) => [match[1] ?? '', match[2] ?? '']);

/** Some rows for every view in the documented queries. */
export async function seedAnalytics(database: Database, chain: Chain): Promise<void> {
  const place = { transactionIndex: 0, logIndex: 0, token: USDC };
  await seedTransfers(database, chain, [
    { ...place, from: ZERO_ADDRESS, to: WALLET, value: 2_500_000n, blockNumber: 1 },
    { ...place, from: WALLET, to: EXCHANGE, value: 1_000_001n, blockNumber: 2 },
    { ...place, from: WALLET, to: WALLET, value: 7n, blockNumber: 3 },
    { ...place, from: EXCHANGE, to: FRIEND, value: 400_000n, blockNumber: 4 },
    { ...place, from: WALLET, to: ZERO_ADDRESS, value: 500_000n, blockNumber: 5 },
    { ...place, from: WALLET, to: FRIEND, value: 1n, blockNumber: 6, token: NFT },
    { ...place, from: FRIEND, to: WALLET, value: BIGGEST, blockNumber: 7, token: UNKNOWN },
  ]);
  await database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, name, symbol, decimals, facts_status, verified)
     VALUES (${addressBytes(USDC)}, ${chain.id}, 'erc20', 'USD Coin', 'USDC', 6, 'known', true), (${addressBytes(NFT)}, ${chain.id}, 'erc721', 'Collectible', 'NFT', NULL, 'known', false)`,
  );
  await database.query(
    sql`INSERT INTO address_labels (address, chain_id, source, label, entity) VALUES (${addressBytes(EXCHANGE)}, ${chain.id}, 'test', 'Exchange 1', 'Exchange')`,
  );
  await seedCoverage(database, chain, 0, 3);
  await seedCoverage(database, chain, 5, 8, 'none');
  await seedNfts(database, chain, WALLET);
  await seedBalances(database, chain, {
    wallet: WALLET,
    token: USDC,
    unknown: UNKNOWN,
    holders: [EXCHANGE, FRIEND],
  });
  await seedTransactions(database, chain, { wallet: WALLET, token: USDC, friend: FRIEND });
  await seedPools(database, chain, { wallet: WALLET, token: USDC, unknown: UNKNOWN, friend: FRIEND });
  await database.query(
    sql`INSERT INTO upstream_errors (chain_id, upstream, kind, block_number, facts, occurrences)
     VALUES (${chain.id}, 'liar.example', 'missing-logs', 2, '{"missing": 1}', 3)`,
  );
}
