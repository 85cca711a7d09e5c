import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, sql } from '@chainstead/db';
import { createPartitions, hashOf } from '@chainstead/testkit';

export interface SeededTransactions {
  readonly wallet: Address;
  readonly token: Address;
  readonly friend: Address;
}

/** Calls of the token by two accounts, one of which fails, and a payment between them, each alone in its block. */
export async function seedTransactions(
  database: Database,
  { id }: Chain,
  { wallet, token, friend }: SeededTransactions,
): Promise<void> {
  for (const table of ['transactions', 'account_transactions', 'block_headers'])
    await createPartitions(database, table, id);
  const transfer = '0xa9059cbb';
  const approve = '0x095ea7b3';
  for (const [block, from, to, method, gasUsed, status, value] of [
    [2, wallet, token, transfer, 50_000, 1, 0],
    [3, wallet, token, transfer, 30_000, 0, 0],
    [4, friend, token, approve, 40_000, 1, 0],
    [5, wallet, friend, null, 21_000, 1, 25],
  ] as const) {
    const hash = hexBytes(hashOf(2, block * 10_000));
    const [sender, receiver] = [addressBytes(from), addressBytes(to)];
    await database.query(
      sql`INSERT INTO transactions (transaction_key, chain_id, nonce, gas, gas_used, cumulative_gas_used, block_number, transaction_index, type,
         status, sender_recovered, transaction_hash, from_address, to_address, value, gas_price, selector, input)
       VALUES (${hash.readBigInt64BE().toString()}, ${id}, 0, 100000, ${gasUsed}, ${gasUsed}, ${block}, 0, 2, ${status}, true, ${hash},
         ${sender}, ${receiver}, ${value} * 10::numeric ^ 17, 10000000000, ${method === null ? null : hexBytes(method)}, ${hexBytes(method ?? '0x')})`,
    );
    const blockHash = hexBytes(hashOf(block, 0));
    await database.query(
      sql`INSERT INTO block_headers (block_key, chain_id, block_number, transaction_count, block_hash, parent_hash, miner, gas_limit, gas_used,
         base_fee_per_gas, size, difficulty)
       VALUES (${blockHash.readBigInt64BE().toString()}, ${id}, ${block}, 1, ${blockHash}, ${hexBytes(hashOf(block - 1, 0))}, ${sender}, 100000, ${gasUsed}, 8000000000, 600, 0)`,
    );
    for (const [account, roles] of [
      [sender, 1],
      [receiver, 2],
      // One that only logs name: no part of the view.
      [receiver, 0],
    ] as const)
      await database.query(
        sql`INSERT INTO account_transactions (account_key, chain_id, transaction_key, block_number, transaction_index, roles, account)
         VALUES (address_key(${account}), ${id}, ${hash.readBigInt64BE().toString()}, ${block}, 0, ${roles}, ${account})`,
      );
  }
}
