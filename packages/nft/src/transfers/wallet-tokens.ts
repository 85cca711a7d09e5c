import { ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import type { KeptState } from '@chainstead/sync';

/**
 * What wallets hold that somebody asked about: what their transfers add up to, by token and by contract. Sums don't ask in which order
 * transfers came: below zero is an amount whose beginning is not known yet, or of a contract that lies. A token that was given away keeps its
 * row, with zero: when history before it comes, its newest change is known.
 */
export const nftWalletTokens: KeptState = {
  name: 'nft-wallet-tokens',
  version: 1,
  tables: [
    { name: 'nft_wallet_tokens', subject: 'wallet' },
    { name: 'nft_wallet_collections', subject: 'wallet' },
  ],
  rowsOf: (wallet) => {
    // Every mint and burn of the chain is its, and counts for nothing.
    if (wallet === ZERO_ADDRESS) return ['false'];
    const bytes = `'\\x${wallet.slice(2)}'::bytea`;
    const of = (side: string): string => `address_key(${side}) = ${addressKey(wallet)} AND ${side} = ${bytes}`;
    return [of('to_address'), `${of('from_address')} AND to_address <> ${bytes}`];
  },
  indexes: ['nft_transfers_by_sender', 'nft_transfers_by_recipient'],
  added: (rows, kept) => [change(rows, kept, '+')],
  removed: (rows, kept, counted) => [
    change(rows, kept, '-'),
    findNewestChanges(rows, kept, counted),
    forgetUnmoved(rows, kept),
  ],
};

/** One statement for all rows: commits of a chain never run side by side, so what it reads of amounts is what it changes. */
function change(rows: string, kept: string, sign: '+' | '-'): string {
  return `WITH deltas AS (
  SELECT wallet, chain_id, token_address, token_id, sum(delta) AS delta, max(block_number) AS last_block
  FROM ${sidesOf(rows, kept, sign)} AS moved GROUP BY wallet, chain_id, token_address, token_id
), changes AS MATERIALIZED (
  SELECT wallet, chain_id, token_address, token_id, deltas.last_block,
    coalesce(held.amount, 0) AS before, coalesce(held.amount, 0) + delta AS after
  FROM deltas LEFT JOIN nft_wallet_tokens AS held USING (wallet, chain_id, token_address, token_id)
  ORDER BY wallet, chain_id, token_address, token_id
), stored AS (
  INSERT INTO nft_wallet_tokens AS held (wallet, chain_id, token_address, token_id, amount, last_block)
  SELECT wallet, chain_id, token_address, token_id, after, last_block FROM changes
  ON CONFLICT (wallet, chain_id, token_address, token_id) DO UPDATE
    SET amount = excluded.amount, last_block = greatest(held.last_block, excluded.last_block)
)
INSERT INTO nft_wallet_collections AS holding (wallet, chain_id, token_address, ids_held)
SELECT wallet, chain_id, token_address, sum((after > 0)::int - (before > 0)::int) FROM changes
GROUP BY wallet, chain_id, token_address HAVING sum((after > 0)::int - (before > 0)::int) <> 0 ORDER BY wallet, chain_id, token_address
ON CONFLICT (wallet, chain_id, token_address) DO UPDATE SET ids_held = holding.ids_held + excluded.ids_held`;
}

/** The newest change of each token that a removed row changed, from the rows that are left. */
function findNewestChanges(rows: string, kept: string, counted: string): string {
  return `WITH touched AS (
  SELECT wallet, chain_id, token_address, token_id, built_to FROM ${sidesOf(rows, kept, '-')} AS moved
  GROUP BY wallet, chain_id, token_address, token_id, built_to
)
UPDATE nft_wallet_tokens AS held SET last_block = coalesce((
    SELECT max(left_over.block_number) FROM ${counted} AS left_over
    WHERE left_over.collection_key = address_key(touched.token_address) AND token_id_key(left_over.token_id) = token_id_key(touched.token_id)
      AND left_over.chain_id = touched.chain_id AND left_over.token_address = touched.token_address AND left_over.token_id = touched.token_id
      AND touched.wallet IN (left_over.from_address, left_over.to_address) AND ${changesAmounts('left_over')}
      AND left_over.block_number <= touched.built_to
  ), ${NO_BLOCK})
FROM touched
WHERE (held.wallet, held.chain_id, held.token_address, held.token_id)
  = (touched.wallet, touched.chain_id, touched.token_address, touched.token_id)`;
}

/** A token of which no row is left. */
function forgetUnmoved(rows: string, kept: string): string {
  return `DELETE FROM nft_wallet_tokens AS held USING (
  SELECT DISTINCT wallet, chain_id, token_address, token_id FROM ${sidesOf(rows, kept, '-')} AS moved
) AS touched
WHERE (held.wallet, held.chain_id, held.token_address, held.token_id)
  = (touched.wallet, touched.chain_id, touched.token_address, touched.token_id) AND held.last_block = ${NO_BLOCK}`;
}

/** What rows change for the kept wallets on either side of them. */
function sidesOf(rows: string, kept: string, sign: '+' | '-'): string {
  return `(SELECT side.wallet, moved.chain_id, moved.token_address, moved.token_id, moved.block_number, side.delta, kept.built_to
    FROM ${rows} AS moved
      CROSS JOIN LATERAL (VALUES (moved.to_address, ${sign}moved.amount), (moved.from_address, -(${sign}moved.amount))) AS side(wallet, delta)
      JOIN ${kept} AS kept ON kept.subject = side.wallet AND moved.block_number <= kept.built_to
    WHERE ${changesAmounts('moved')} AND side.wallet <> ${ZERO_WALLET})`;
}

/** Neither a transfer to oneself, nor of nothing, nor a range of ids that is not expanded. */
function changesAmounts(row: string): string {
  return `${row}.from_address <> ${row}.to_address AND ${row}.amount <> 0 AND ${row}.last_token_id IS NULL`;
}

const NO_BLOCK = -1;
const ZERO_WALLET = `'\\x${ZERO_ADDRESS.slice(2)}'::bytea`;
