import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { seedBuilt } from '@chainstead/testkit';
import { erc20TokenHolders } from '../../transfers/token-holders.ts';

/** Inserts holders of a requested token: holder n has n units, and every tenth was read from the contract. */
export async function seedHolders(
  database: Database,
  chain: Chain,
  token: Address,
  count: number,
): Promise<void> {
  await seedBuilt(database, chain.id, erc20TokenHolders);
  await database.query(
    sql`INSERT INTO subject_projections (chain_id, state, subject) VALUES (${chain.id}, ${erc20TokenHolders.name}, ${addressBytes(token)}) ON CONFLICT DO NOTHING`,
  );
  await database.query(
    sql`INSERT INTO erc20_holders (token, chain_id, account, total, moves, first_block, first_transaction, acquired, anchor_block, anchor_value, anchored_at)
     SELECT ${addressBytes(token)}, ${chain.id}, decode(lpad(to_hex(number), 40, '0'), 'hex'), number, 1, 1, 0, 0,
       CASE WHEN number % 10 = 0 THEN 1 END, CASE WHEN number % 10 = 0 THEN number END, CASE WHEN number % 10 = 0 THEN now() END
     FROM generate_series(1, ${count}::bigint) AS number`,
  );
  await database.query(
    sql`INSERT INTO erc20_holder_counts (token, chain_id, transfers, holders, supply, top_block, is_exact)
     VALUES (${addressBytes(token)}, ${chain.id}, ${count}, ${count}, ${count}::bigint * (${count}::bigint + 1) / 2, 1, true)`,
  );
}

/** Inserts one new holder in each minute up to a moment. */
export async function seedMinutes(
  database: Database,
  chain: Chain,
  token: Address,
  { count, last }: { readonly count: number; readonly last: Date },
): Promise<void> {
  await database.query(
    sql`INSERT INTO erc20_holder_minutes (token, chain_id, minute, class, came, gone, airdropped, swapped)
     SELECT ${addressBytes(token)}, ${chain.id}, date_trunc('minute', ${last}::timestamptz) - make_interval(mins => number::int), number % 7, 3, 2, 1, 0
     FROM generate_series(0, ${count}::bigint - 1) AS number`,
  );
}
