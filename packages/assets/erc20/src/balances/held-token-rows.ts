import type { Address } from '@chainstead/core';
import { boolean, hex, int4, int8, packedRows, type RowOf, text, textOrNull } from '@chainstead/db/packed-rows';

/** -1: unknown. */
export const HELD_TOKENS = packedRows({
  token: hex<Address>('token', 20),
  moved_block: int4('place[1]'),
  moved_transaction: int4('place[2]'),
  moved_log: int4('place[3]'),
  class: text('class'),
  adds_up: boolean('adds_up'),
  balance: textOrNull('balance::text'),
  balance_block: int8('coalesce(balance_block, -1)'),
  due: textOrNull('due'),
  name: textOrNull('name'),
  symbol: textOrNull('symbol'),
  // A contract that was read without a result has 0.
  decimals: int4("coalesce(decimals, CASE WHEN facts_status <> 'pending' THEN 0 ELSE -1 END)"),
  logo: textOrNull('logo'),
  verified: boolean('verified'),
  possible_spam: boolean('possible_spam'),
  total_supply: textOrNull('total_supply::text'),
  is_supply_old: boolean('is_supply_old'),
});

export type HeldTokenRow = RowOf<typeof HELD_TOKENS>;
