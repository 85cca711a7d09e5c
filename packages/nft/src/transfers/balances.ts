import { ZERO_ADDRESS } from '@chainstead/core';
import type { DerivedState } from '@chainstead/sync';

/**
 * Balances and holdings: what transfers add up to. A balance is the sum of what an account received and gave of a token; the
 * zero address has none, and a balance of zero has no row, so that what passes through a marketplace leaves nothing behind.
 * Sums don't ask in which order transfers came: below zero is a balance whose beginning is not known yet, or of a contract
 * that lies. A holding counts an account's balances above zero, by contract.
 *
 * One statement for all rows: commits of a chain never run side by side, so what it reads of balances is what it changes.
 */
export const nftBalances: DerivedState = {
  name: 'nft-balances',
  version: 1,
  tables: ['nft_balances', 'nft_holdings'],
  added: (rows) => [changeBalances(rows, '+')],
  removed: (rows) => [changeBalances(rows, '-')],
};

function changeBalances(rows: string, sign: '+' | '-'): string {
  return `WITH deltas AS (
  SELECT account, chain_id, token_address, token_id, sum(delta) AS delta
  FROM ${rows} AS moved
    CROSS JOIN LATERAL (VALUES (to_address, ${sign}amount), (from_address, -(${sign}amount))) AS side(account, delta)
  WHERE from_address <> to_address AND amount <> 0 AND last_token_id IS NULL AND account <> ${ZERO_ACCOUNT}
  GROUP BY account, chain_id, token_address, token_id
  HAVING sum(delta) <> 0
), changes AS MATERIALIZED (
  SELECT account, chain_id, token_address, token_id, balance.ctid AS place,
    coalesce(amount, 0) AS before, coalesce(amount, 0) + delta AS after
  FROM deltas LEFT JOIN nft_balances AS balance USING (account, chain_id, token_address, token_id)
  ORDER BY account, chain_id, token_address, token_id
), emptied AS (
  DELETE FROM nft_balances AS balance USING changes WHERE balance.ctid = changes.place AND changes.after = 0
), changed AS (
  UPDATE nft_balances AS balance SET amount = changes.after FROM changes
  WHERE balance.ctid = changes.place AND changes.after <> 0
), begun AS (
  INSERT INTO nft_balances (account, chain_id, token_address, token_id, amount)
  SELECT account, chain_id, token_address, token_id, after FROM changes WHERE place IS NULL
), held AS MATERIALIZED (
  SELECT account, chain_id, token_address, holding.ctid AS place, coalesce(holding.ids_held, 0) + difference AS ids_held
  FROM (
    SELECT account, chain_id, token_address, sum((after > 0)::int - (before > 0)::int) AS difference
    FROM changes GROUP BY account, chain_id, token_address
  ) AS differences LEFT JOIN nft_holdings AS holding USING (account, chain_id, token_address)
  WHERE difference <> 0
  ORDER BY account, chain_id, token_address
), left_behind AS (
  DELETE FROM nft_holdings AS holding USING held WHERE holding.ctid = held.place AND held.ids_held = 0
), counted AS (
  UPDATE nft_holdings AS holding SET ids_held = held.ids_held FROM held
  WHERE holding.ctid = held.place AND held.ids_held <> 0
)
INSERT INTO nft_holdings (account, chain_id, token_address, ids_held)
SELECT account, chain_id, token_address, ids_held FROM held WHERE place IS NULL`;
}

const ZERO_ACCOUNT = `'\\x${ZERO_ADDRESS.slice(2)}'::bytea`;
