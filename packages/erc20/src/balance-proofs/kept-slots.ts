import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import type { BalanceSlot } from './balance-slot.ts';
import type { FoundSlot } from './find-balance-slot.ts';
import type { SlotLayout } from './schema.ts';

/** What is kept of a token's storage. */
export interface KeptSlot {
  /** Null: it was looked for, and not found. */
  readonly place: BalanceSlot | null;
  /** How many holders' balances were compared with it. */
  readonly witnesses: number;
  /** Whether it was looked for within the last day. */
  readonly isFresh: boolean;
}

/** Null where nobody looked for it yet. */
export async function readKeptSlot(
  database: Database,
  chain: Pick<Chain, 'id'>,
  token: Address,
): Promise<KeptSlot | null> {
  const [row] = await database.query<{
    layout: SlotLayout | null;
    slot: string | null;
    witnesses: number;
    fresh: boolean;
  }>(
    `SELECT layout, slot::text AS slot, cardinality(checked_by) AS witnesses, found_at > now() - interval '1 day' AS fresh
     FROM erc20_balance_slots WHERE token = $1 AND chain_id = $2`,
    [addressBytes(token), chain.id],
  );
  if (row === undefined) return null;
  const { layout, slot, witnesses, fresh } = row;
  const place = layout === null || slot === null ? null : { layout, slot: BigInt(slot) };
  return { place, witnesses, isFresh: fresh };
}

/** What was found of a token, or that nothing was, by whom. */
export interface SlotToKeep {
  readonly token: Address;
  readonly found: FoundSlot | null;
  /** By whose balances it was looked for. */
  readonly soughtBy: readonly Address[];
  readonly block: number;
}

/** Replaces what is kept of the token. */
export async function keepSlot(
  database: Database,
  chain: Pick<Chain, 'id'>,
  { token, found, soughtBy, block }: SlotToKeep,
): Promise<void> {
  const holders = (found?.checkedBy ?? soughtBy).map((holder) => holder.slice(2));
  await database.query(
    `INSERT INTO erc20_balance_slots (token, chain_id, layout, slot, checked_by, checked_block)
     VALUES ($1, $2, $3, $4, ARRAY(SELECT decode(holder, 'hex') FROM unnest($5::text[]) AS given(holder)), $6)
     ON CONFLICT (token, chain_id) DO UPDATE SET layout = excluded.layout, slot = excluded.slot, checked_by = excluded.checked_by,
       checked_block = excluded.checked_block, found_at = now()`,
    [addressBytes(token), chain.id, found?.layout ?? null, found?.slot.toString() ?? null, holders, block],
  );
}

/** Whether the token computes balances from what it keeps, as its readings have shown. */
export async function isLiveToken(database: Database, chain: Pick<Chain, 'id'>, token: Address): Promise<boolean> {
  const rows = await database.query(
    `SELECT 1 FROM erc20_token_classes WHERE token = $1 AND chain_id = $2 AND class = 'live'`,
    [addressBytes(token), chain.id],
  );
  return rows.length > 0;
}
