import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import type { BalanceSlot, SlotLayout } from './balance-slot.ts';
import type { FoundSlot } from './find-balance-slot.ts';

interface StoredSlot {
  /** Null: searched without success. */
  readonly location: BalanceSlot | null;
  readonly witnesses: number;
  readonly isFresh: boolean;
}

export async function readStoredSlot(
  database: Database,
  chain: Pick<Chain, 'id'>,
  token: Address,
): Promise<StoredSlot | null> {
  const [row] = await database.query<
    Omit<StoredSlot, 'location'> & { layout: SlotLayout | null; slot: string | null }
  >(
    sql`SELECT layout, slot::text AS slot, cardinality(checked_by) AS witnesses, found_at > now() - interval '1 day' AS "isFresh"
     FROM erc20_balance_slots WHERE token = ${addressBytes(token)} AND chain_id = ${chain.id}`,
  );
  if (row === undefined) return null;
  const { layout, slot, witnesses, isFresh } = row;
  return {
    location: layout === null || slot === null ? null : { layout, slot: BigInt(slot) },
    witnesses,
    isFresh,
  };
}

export async function keepSlot(
  database: Database,
  chain: Pick<Chain, 'id'>,
  result: { token: Address; found: FoundSlot | null; soughtBy: readonly Address[]; block: number },
): Promise<void> {
  const { token, found, soughtBy, block } = result;
  const holders = (found?.checkedBy ?? soughtBy).map((holder) => holder.slice(2));
  await database.query(
    sql`INSERT INTO erc20_balance_slots (token, chain_id, layout, slot, checked_by, checked_block)
     VALUES (${addressBytes(token)}, ${chain.id}, ${found?.layout ?? null}, ${found?.slot.toString() ?? null}, ARRAY(SELECT decode(holder, 'hex') FROM unnest(${holders}::text[]) AS given(holder)), ${block})
     ON CONFLICT (token, chain_id) DO UPDATE SET layout = excluded.layout, slot = excluded.slot, checked_by = excluded.checked_by,
       checked_block = excluded.checked_block, found_at = now()`,
  );
}

export async function isLiveToken(
  database: Database,
  chain: Pick<Chain, 'id'>,
  token: Address,
): Promise<boolean> {
  const rows = await database.query(
    sql`SELECT 1 FROM erc20_token_classes WHERE token = ${addressBytes(token)} AND chain_id = ${chain.id} AND class = 'live'`,
  );
  return rows.length > 0;
}
