import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type ReadDatabase, sql } from '@chainstead/db';
import { WHOLE_COLLECTION } from '../trades/sale-days.ts';
import { etherPayments } from './sale-prices-statement.ts';

export interface SaleDay {
  /** UTC, `2026-01-31`. */
  readonly day: string;
  readonly sales: number;
  readonly lowest: string;
  readonly average: string;
  readonly highest: string;
}

export async function readSaleDays(
  database: ReadDatabase,
  chain: Chain,
  { token, tokenId, days }: { readonly token: Address; readonly tokenId: string | null; readonly days: number },
): Promise<readonly SaleDay[]> {
  return database.select<SaleDay>(
    sql`SELECT day::text AS day, sum(sales)::bigint AS sales, min(lowest)::text AS lowest,
       div(sum(total), sum(sales))::text AS average, max(highest)::text AS highest
     FROM nft_sale_days
     WHERE token_address = ${addressBytes(token)} AND chain_id = ${chain.id} AND token_id = ${tokenId ?? String(WHOLE_COLLECTION)}::numeric AND payment_token = ANY (${etherPayments(chain, { withWrapped: true }).map(addressBytes)}::bytea[])
       AND day > (now() AT TIME ZONE 'UTC')::date - ${days}::integer
     GROUP BY day ORDER BY nft_sale_days.day`,
  );
}
