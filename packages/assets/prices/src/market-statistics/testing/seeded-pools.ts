/** Pools with states, balances and trades, as the sync engine and the worker would store them. */
import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { DIRECTION } from '@chainstead/db/column-types';
import { exchangesOf, poolKey } from '@chainstead/markets/requests';
import { addressOf } from '@chainstead/testkit';
import { ALICE, CATS, eth, HEAD, WETH } from './seeded-market.ts';

/** Tokens in ascending order of their addresses. */
interface SeededPool {
  readonly pool: Hex;
  readonly tokens: readonly [Address, Address];
  readonly exchange?: string;
  readonly status?: 'proven' | 'unproven';
  readonly isCounted?: boolean;
  readonly vault?: Address;
}

export async function seedPool(
  database: Database,
  chain: Chain,
  { pool, tokens, exchange = 'Uniswap v2', status = 'proven', isCounted = true, vault }: SeededPool,
): Promise<void> {
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, vault, status, exchange, factory, token0, token1, is_counted, due_at)
     VALUES (${poolKey(pool)}, ${chain.id}, ${hexBytes(pool)}, ${vault === undefined ? null : hexBytes(vault)}, ${status}, ${exchange},
       ${hexBytes(factoryOf(exchange, chain))}, ${hexBytes(tokens[0])}, ${hexBytes(tokens[1])}, ${isCounted}, NULL)`,
  );
}

export function factoryOf(exchange: string, chain: Chain = eth): Address {
  const found = exchangesOf(chain).all.find((one) => one.exchange.name === exchange);
  if (found === undefined) throw new RangeError(`${exchange} is not on ${chain.key}`);
  return found.deployment.factory;
}

/** Stores the reserves of a pool from a block on. Base units. */
export async function seedReserves(
  database: Database,
  chain: Chain,
  pool: Hex,
  block: number,
  [reserve0, reserve1]: readonly [bigint, bigint],
): Promise<void> {
  await database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
     VALUES (${poolKey(pool)}, ${chain.id}, ${block}, 0, 0, ${hexBytes(pool)}, ${`${reserve0}`}, ${`${reserve1}`})`,
  );
}

/** Stores a price of a pool with concentrated liquidity. @param root square root of base units 1 per base unit 0 */
export async function seedRoot(
  database: Database,
  chain: Chain,
  pool: Hex,
  block: number,
  root: bigint,
  liquidity = 5n * 10n ** 15n,
) {
  await database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
     VALUES (${poolKey(pool)}, ${chain.id}, ${block}, 0, 0, ${hexBytes(pool)}, ${(root << 96n).toString()}, ${liquidity.toString()}, 1)`,
  );
}

/** Stores balances that the token contracts returned for a pool at the head. Base units. */
export async function seedBalances(
  database: Database,
  chain: Chain,
  pool: Address,
  balances: readonly (readonly [Address, bigint])[],
): Promise<void> {
  for (const [token, value] of balances)
    await database.query(
      sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, anchor_block, anchor_value, anchored_at) VALUES (${hexBytes(pool)}, ${chain.id}, ${hexBytes(token)}, ${HEAD}, ${value.toString()}, now())`,
    );
}

interface SeededDeposit {
  readonly pool: Address;
  readonly block: number;
  readonly token: Address;
  /** Base units. */
  readonly value: bigint;
}

/** Stores a transfer into a pool. */
export async function seedDeposit(
  database: Database,
  chain: Chain,
  { pool, block, token, value }: SeededDeposit,
) {
  await database.query(
    sql`INSERT INTO erc20_transfer_sides (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
     VALUES (address_key(${hexBytes(pool)}), ${chain.id}, ${block}, 0, 1, ${DIRECTION.received}, ${hexBytes(pool)}, ${hexBytes(token)}, ${hexBytes(addressOf(0xb0b))}, ${value.toString()}, sha256('x'))`,
  );
}

interface SeededSwap extends Pick<SeededPool, 'pool'> {
  readonly tokens?: SeededPool['tokens'];
  readonly block: number;
  readonly log?: number;
  /** Base units into the pool; negative out of it. */
  readonly amounts: readonly [bigint, bigint];
  readonly wallet?: Address;
}

/** Stores a swap with its trade. */
export async function seedSwap(
  database: Database,
  chain: Chain,
  { pool, tokens = [CATS, WETH], block, log = 0, amounts, wallet = ALICE }: SeededSwap,
): Promise<void> {
  const [token0, token1] = [sql`${hexBytes(tokens[0])}`, sql`${hexBytes(tokens[1])}`];
  await database.query(
    sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, token0, token1, amount0, amount1, wallet, transaction_hash)
     VALUES (${poolKey(pool)}, ${chain.id}, ${block}, 0, ${log}, 0, ${hexBytes(pool)}, ${token0}, ${token1}, ${`${amounts[0]}`}, ${`${amounts[1]}`},
       ${hexBytes(wallet)}, sha256(${block}::int::text::bytea))`,
  );
  await database.query(
    sql`INSERT INTO trades (pool_key, chain_id, block_number, transaction_index, log_index, token0_key, token1_key)
     VALUES (${poolKey(pool)}, ${chain.id}, ${block}, 0, ${log}, address_key(${token0}), address_key(${token1}))`,
  );
}
