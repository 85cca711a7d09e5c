import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, sql } from '@chainstead/db';
import { addressOf, createPartitions, hashOf, storeToken } from '@chainstead/testkit';

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
    sql`INSERT INTO projections (chain_id, state, dataset, version, status, position)
     VALUES (${id}, 'erc20-wallet-tokens', 'erc20-transfers', 2, 'built', 0), (${id}, 'erc20-token-holders', 'erc20-transfers', 2, 'built', 0)`,
  );
  await database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject, built_to)
     VALUES (${id}, 'erc20-wallet-tokens', ${ofWallet}, NULL), (${id}, 'erc20-wallet-tokens', ${addressBytes(smaller)}, 4), (${id}, 'erc20-token-holders', ${ofToken}, NULL)`,
  );
  await storeToken(database, id, REBASING, {
    standard: 'erc20',
    symbol: 'stETH',
    decimals: 18,
    facts_status: 'known',
  });
  await database.query(
    sql`UPDATE tokens SET total_supply = 2000000, created_block = 5 WHERE address = ${ofToken} AND chain_id = ${id}`,
  );
  await database.query(
    sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (${addressBytes(REBASING)}, ${id}, 'live', 8), (${addressBytes(MUTE)}, ${id}, 'none', 8)`,
  );
  // Blocks from 5 on are indexed: the earlier reading of the unknown token covers its block alone.
  await database.query(
    sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, total, moved_block, anchor_block, anchor_value, since, anchored_at)
     SELECT ${ofWallet}, ${id}, token, total, 7, anchor_block, anchor_value, since, now()
     FROM (VALUES (${ofToken}::bytea, 999999, 6, 1499999, -500000), (${ofUnknown}, 77, 2, 5, 72), (${addressBytes(REBASING)}, 3, 8, 2500000000000000000, 0), (${addressBytes(MUTE)}, 9, 8, 9, 0))
       AS held (token, total, anchor_block, anchor_value, since)`,
  );
  await database.query(
    sql`INSERT INTO erc20_holders (token, chain_id, account, total, moves, anchor_block, anchor_value, since, anchored_at)
     VALUES (${ofToken}, ${id}, ${ofWallet}, 999999, 4, 6, 1499999, -500000, now()), (${ofToken}, ${id}, ${addressBytes(larger)}, 600001, 2, NULL, NULL, 0, NULL),
       (${ofToken}, ${id}, ${addressBytes(smaller)}, 400000, 1, NULL, NULL, 0, NULL)`,
  );
  await database.query(
    sql`INSERT INTO erc20_holder_counts (token, chain_id, transfers, holders, supply, top_block, is_exact, readings)
     VALUES (${ofToken}, ${id}, 5, 3, 2000000, 5, true, 1)`,
  );
  await createPartitions(database, 'erc20_approvals', id);
  const unlimited = (2n ** 256n - 1n).toString();
  for (const [block, of, spender, value] of [
    [5, ofUnknown, smaller, unlimited],
    [6, ofToken, larger, unlimited],
    [7, ofUnknown, smaller, '0'],
  ] as const)
    await database.query(
      sql`INSERT INTO erc20_approvals (owner_key, chain_id, block_number, transaction_index, log_index, owner, token, spender, value, transaction_hash)
       VALUES (address_key(${ofWallet}), ${id}, ${block}, 0, 0, ${ofWallet}, ${of}, ${addressBytes(spender)}, ${value}, ${hexBytes(hashOf(2, block))})`,
    );
}
