import { createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, rawSql, type Sql, sql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import { CHAIN_ID } from './bench-chain.ts';

/** Whom to ask for in the filled tables. */
export interface AssetDataset {
  /** The token with all the holders. */
  readonly token: Address;
  readonly holders: number;
  /** A wallet that holds many tokens. */
  readonly wallet: Address;
  readonly walletTokens: number;
}

/** Indexed blocks: all of the chain. */
const BLOCKS = 1_000;
const NAMED_HOLDERS = 500;
const TOKEN = sql`substr(sha256('token'), 1, 20)`;
const WALLET = sql`substr(sha256('wallet'), 1, 20)`;
const HELD = sql`substr(sha256(('held ' || number)::bytea), 1, 20)`;
const hashOf = (block: number | 'number'): Sql => sql`sha256(('block ' || ${rawSql(block)})::bytea)`;
const HOLDER = sql`substr(sha256(('holder ' || number)::bytea), 1, 20)`;

/**
 * Fills the production tables with the derived state of a requested token and wallet, read from their contracts already.
 * Nothing is due, so that responses come from the database alone.
 */
export async function fillAssetDataset(
  database: Database,
  plan: { readonly holders: number; readonly walletTokens: number },
): Promise<AssetDataset> {
  await database.query(sql`SELECT setseed(0.42)`);
  await fillChain(database);
  await fillFacts(database, plan.walletTokens);
  await fillHolders(database, plan.holders);
  await fillWallet(database, plan.walletTokens);
  await database.query(sql`VACUUM ANALYZE`);
  const [found] = await database.query<{ token: Address; wallet: Address }>(
    sql`SELECT '0x' || encode(${TOKEN}, 'hex') AS token, '0x' || encode(${WALLET}, 'hex') AS wallet`,
  );
  if (found === undefined) throw new RangeError('The filled tables could not be described');
  return { ...plan, ...found };
}

async function fillChain(database: Database): Promise<void> {
  await database.query(sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
    SELECT ${rawSql(CHAIN_ID)}, number, ${hashOf('number')}, to_timestamp(1700000000 + number * 12)
    FROM generate_series(0, ${rawSql(BLOCKS - 1)}) AS number`);
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${CHAIN_ID}, ${erc20Transfers.name}, 0, ${BLOCKS - 1}, 'receipts')`,
  );
  for (const { name, version } of erc20Transfers.projections ?? [])
    await database.query(
      sql`INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES (${CHAIN_ID}, ${name}, ${erc20Transfers.name}, ${version}, 'built', 0)`,
    );
}

async function fillFacts(database: Database, walletTokens: number): Promise<void> {
  await database.query(sql`INSERT INTO tokens
      (address, chain_id, standard, seen_as, name, symbol, decimals, facts_status, logo, verified, total_supply, supply_block, supply_block_hash, supply_read_at, created_block, created_at, creation_sought_at)
    SELECT address, ${rawSql(CHAIN_ID)}, 'erc20', 1, 'Token ' || number, 'T' || number, 18, 'known', 'https://logos.example/' || number || '.png', number % 3 = 0,
      10::numeric ^ 30, ${rawSql(BLOCKS - 1)}, ${hashOf(BLOCKS - 1)}, now(), 1, to_timestamp(1700000012), now()
    FROM (SELECT number, CASE number WHEN 0 THEN ${TOKEN} ELSE ${HELD} END AS address FROM generate_series(0, ${rawSql(walletTokens)}) AS number) AS token`);
  await database.query(
    sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) SELECT address, chain_id, 'sum', ${rawSql(BLOCKS - 1)} FROM tokens`,
  );
}

async function fillHolders(database: Database, holders: number): Promise<void> {
  await keep(database, 'erc20-token-holders', TOKEN);
  await database.query(sql`INSERT INTO erc20_holders
      (token, chain_id, account, total, moves, first_block, first_transaction, acquired, anchor_block, anchor_value, anchored_at)
    SELECT ${TOKEN}, ${rawSql(CHAIN_ID)}, ${HOLDER}, balance, 1, number % ${rawSql(BLOCKS)}, 0, 1, ${rawSql(BLOCKS - 1)}, balance, now()
    FROM (SELECT number, floor(power(10, 3 + 18 * random()))::numeric * 997 + number AS balance FROM generate_series(1, ${rawSql(holders)}) AS number) AS holder
    ORDER BY 3`);
  await database.query(sql`INSERT INTO erc20_holder_counts (token, chain_id, transfers, holders, supply, top_block, is_exact)
    SELECT ${TOKEN}, ${rawSql(CHAIN_ID)}, count(*), count(*), sum(total), ${rawSql(BLOCKS - 1)}, true FROM erc20_holders`);
  await database.query(
    sql`INSERT INTO account_codes (address, chain_id, has_code) SELECT account, chain_id, false FROM erc20_holders`,
  );
  await database.query(sql`INSERT INTO address_labels (address, chain_id, source, label, entity)
    SELECT account, 0, 'bench', 'Holder', 'Exchange' FROM erc20_holders ORDER BY total DESC LIMIT ${rawSql(NAMED_HOLDERS)}`);
}

async function fillWallet(database: Database, walletTokens: number): Promise<void> {
  await keep(database, 'erc20-wallet-tokens', WALLET);
  await database.query(sql`INSERT INTO erc20_wallet_tokens
      (wallet, chain_id, token, total, moved_block, moved_transaction, moved_log, anchor_block, anchor_value, anchored_at)
    SELECT ${WALLET}, ${rawSql(CHAIN_ID)}, ${HELD}, balance, number % ${rawSql(BLOCKS)}, number / ${rawSql(BLOCKS)}, 0, ${rawSql(BLOCKS - 1)}, balance, now()
    FROM (SELECT number, floor(power(10, 3 + 18 * random()))::numeric * 997 + 1 AS balance FROM generate_series(1, ${rawSql(walletTokens)}) AS number) AS token`);
  // The wallet holds no wrapped native tokens. Their contract would be called once a minute, and the benchmark's node does not know it.
  const { wrappedNative } = createChainRegistry().get(CHAIN_ID);
  await database.query(
    sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, anchor_block, anchor_value, anchored_at)
     SELECT ${WALLET}, ${rawSql(CHAIN_ID)}, coin, ${rawSql(BLOCKS - 1)}, 0, now() + interval '1 day' FROM unnest(${wrappedNative === null ? [] : [addressBytes(wrappedNative)]}::bytea[]) AS wrapped(coin)`,
  );
}

/** As the first request for a subject does. */
async function keep(database: Database, state: string, subject: Sql): Promise<void> {
  await database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${CHAIN_ID}, ${state}, ${subject})`,
  );
}
