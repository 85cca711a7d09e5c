import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, sql } from '@chainstead/db';
import { addressOf, createPartitions, hashOf, storeToken, timestampOf } from '@chainstead/testkit';

/** The pool in the queries of docs/api/sql-examples.md. */
export const POOL = parseAddress('0x88e6a0c2ddd26feeb64f039a2c41296fcb3f5640');
export const OTHER_POOL = addressOf(0x9001);
/** Has perfect events and no proof. */
export const UNPROVEN_POOL = addressOf(0x9002);
const DISPROVED_POOL = addressOf(0x9003);
export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');

/** Hours since the epoch. The hour has the blocks 0 to 299. */
const HOUR = Math.floor(timestampOf(0) / 3_600);
/** A packed candle: one price of 2,000 dollars, and none in the native token. */
const PRICED_2000 = '0x09000207d000010100';

export interface SeededTraders {
  readonly wallet: Address;
  readonly token: Address;
  readonly unknown: Address;
  readonly friend: Address;
}

/** Pools of the token with every kind of proof, and swaps of the wallet and its friend in blocks 2 to 5, which must exist. */
export async function seedPools(
  database: Database,
  { id }: Chain,
  { wallet, token, unknown, friend }: SeededTraders,
): Promise<void> {
  await storeToken(database, id, WETH, {
    standard: 'erc20',
    name: 'Wrapped Ether',
    symbol: 'WETH',
    decimals: 18,
    facts_status: 'known',
  });
  for (const [pool, status, proof, block, exchange, fee, token1] of [
    [POOL, 'proven', 'address', null, 'Uniswap v3', 500, WETH],
    [OTHER_POOL, 'proven', 'creation', 2, 'Uniswap v2', null, unknown],
    [UNPROVEN_POOL, 'unproven', null, null, null, null, WETH],
    [DISPROVED_POOL, 'disproved', null, 5, null, null, WETH],
  ] as const) {
    const address = sql`${addressBytes(pool)}`;
    await database.query(
      sql`INSERT INTO pools (pool_key, chain_id, pool, status, proof, proof_block, exchange, token0, token1, fee, is_counted, due_at)
       VALUES (address_key(${address}), ${id}, ${address}, ${status}, ${proof}, ${block}, ${exchange},
         ${addressBytes(token)}, ${addressBytes(token1)}, ${fee}, ${status === 'proven'}, NULL)`,
    );
  }
  for (const table of ['swaps', 'pool_states']) await createPartitions(database, table, id);
  for (const [block, kind, pool, sender, beneficiary, amount0, amount1] of [
    [2, 0, POOL, wallet, null, '1000000000', '-500000000000000000'],
    [3, 0, POOL, friend, wallet, '-500000000', '250000000000000000'],
    [4, 1, POOL, friend, null, '7000000', '9'],
    [5, 0, UNPROVEN_POOL, wallet, null, '1', '-1'],
  ] as const) {
    const address = sql`${addressBytes(pool)}`;
    await database.query(
      sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, token0, token1, amount0, amount1, wallet,
         beneficiary, transaction_hash)
       VALUES (address_key(${address}), ${id}, ${block}, 0, 1, ${kind}, ${address}, ${addressBytes(token)}, ${addressBytes(WETH)},
         ${amount0}, ${amount1}, ${addressBytes(sender)}, ${beneficiary === null ? null : addressBytes(beneficiary)}, ${hexBytes(hashOf(2, block))})`,
    );
  }
  await database.query(
    sql`INSERT INTO candle_spans (chain_id, hours, start, first_block, last_block, prices_from_block, settings, is_stored, claim)
     VALUES (${id}, 1, ${HOUR}, 0, 299, 0, '', true, gen_random_uuid())`,
  );
  await database.query(
    sql`INSERT INTO pool_candles (pool_key, chain_id, hours, start, pool, swaps, buys, sells, buy_volume, sell_volume, is_valued, is_quoted_in0, prices)
     VALUES (address_key(${addressBytes(POOL)}), ${id}, 1, ${HOUR}, ${addressBytes(POOL)}, 2, 1, 1, 0, 0, true, true, ${hexBytes(PRICED_2000)})`,
  );
  await database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
     VALUES (address_key(${addressBytes(POOL)}), ${id}, 3, 0, 1, ${addressBytes(POOL)}, 1771595571142957166518320255467520, 1, 200311)`,
  );
}
