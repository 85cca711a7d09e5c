import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexBytes } from '@chainstead/db';
import { addressOf, createPartitions, hashOf } from '@chainstead/testkit';

/** Tokens that the wallet holds: one that rebases, and one with an unreadable contract. */
export const REBASING = addressOf(0x5eb);
const MUTE = addressOf(0x307e);

export interface SeededBalances {
  readonly wallet: Address;
  /** Counted, as its holders are; a list vouches for it. */
  readonly token: Address;
  /** An unknown token. */
  readonly unknown: Address;
  /** Unread holders, the larger one first. */
  readonly holders: readonly [Address, Address];
}

/** Derived state of a requested wallet and token, and the wallet's approvals: one in force, one revoked. */
export async function seedBalances(
  database: Database,
  { id }: Chain,
  { wallet, token, unknown, holders }: SeededBalances,
): Promise<void> {
  const [larger, smaller] = holders;
  const [ofWallet, ofToken, ofUnknown] = [addressBytes(wallet), addressBytes(token), addressBytes(unknown)];
  await database.query(
    `INSERT INTO projections (chain_id, state, dataset, version, status, position)
     VALUES ($1, 'erc20-wallet-tokens', 'erc20-transfers', 2, 'built', 0), ($1, 'erc20-token-holders', 'erc20-transfers', 2, 'built', 0)`,
    [id],
  );
  await database.query(
    `INSERT INTO subject_projections (chain_id, state, subject, built_to)
     VALUES ($1, 'erc20-wallet-tokens', $2, NULL), ($1, 'erc20-wallet-tokens', $3, 4), ($1, 'erc20-token-holders', $4, NULL)`,
    [id, ofWallet, addressBytes(smaller), ofToken],
  );
  await database.query(
    `INSERT INTO tokens (address, chain_id, standard, symbol, decimals, facts_status) VALUES ($1, $2, 'erc20', 'stETH', 18, 'known')`,
    [addressBytes(REBASING), id],
  );
  await database.query(
    'UPDATE tokens SET total_supply = 2000000, created_block = 5 WHERE address = $1 AND chain_id = $2',
    [ofToken, id],
  );
  await database.query(
    `INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES ($2, $1, 'live', 8), ($3, $1, 'none', 8)`,
    [id, addressBytes(REBASING), addressBytes(MUTE)],
  );
  // Blocks from 5 on are indexed: the earlier reading of the unknown token covers its block alone.
  await database.query(
    `INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, total, moved_block, anchor_block, anchor_value, since, anchored_at)
     SELECT $2, $1, token, total, 7, anchor_block, anchor_value, since, now()
     FROM (VALUES ($3::bytea, 999999, 6, 1499999, -500000), ($4, 77, 2, 5, 72), ($5, 3, 8, 2500000000000000000, 0), ($6, 9, 8, 9, 0))
       AS held (token, total, anchor_block, anchor_value, since)`,
    [id, ofWallet, ofToken, ofUnknown, addressBytes(REBASING), addressBytes(MUTE)],
  );
  await database.query(
    `INSERT INTO erc20_holders (token, chain_id, account, total, moves, anchor_block, anchor_value, since, anchored_at)
     VALUES ($2, $1, $3, 999999, 4, 6, 1499999, -500000, now()), ($2, $1, $4, 600001, 2, NULL, NULL, 0, NULL),
       ($2, $1, $5, 400000, 1, NULL, NULL, 0, NULL)`,
    [id, ofToken, ofWallet, addressBytes(larger), addressBytes(smaller)],
  );
  await database.query(
    `INSERT INTO erc20_holder_counts (token, chain_id, transfers, holders, supply, top_block, is_exact, readings)
     VALUES ($2, $1, 5, 3, 2000000, 5, true, 1)`,
    [id, ofToken],
  );
  await createPartitions(database, 'erc20_approvals', id);
  const unlimited = (2n ** 256n - 1n).toString();
  for (const [block, of, spender, value] of [
    [5, ofUnknown, smaller, unlimited],
    [6, ofToken, larger, unlimited],
    [7, ofUnknown, smaller, '0'],
  ] as const)
    await database.query(
      `INSERT INTO erc20_approvals (owner_key, chain_id, block_number, transaction_index, log_index, owner, token, spender, value, transaction_hash)
       VALUES (address_key($2), $1, $3, 0, 0, $2, $4, $5, $6, $7)`,
      [id, ofWallet, block, of, addressBytes(spender), value, hexBytes(hashOf(2, block))],
    );
}
