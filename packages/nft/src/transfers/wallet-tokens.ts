import { ZERO_ADDRESS } from '@chainstead/core';
import { columnsOf, defineLookUp, IN_PLACE, type Reading, type SubjectState } from '@chainstead/sync';
import {
  changesLeft,
  type KeptAmounts,
  keyOf,
  movesOne,
  newestFirst,
  ofSameId,
  sidePlace,
  sidesOf,
  tellsHolder,
  WITH_CONTRACT,
} from './moved-amounts.ts';

const AMOUNTS: KeptAmounts = { table: 'nft_wallet_tokens', party: 'wallet', subject: 'party' };
const KEY = keyOf(AMOUNTS).join(', ');

/**
 * What wallets hold that somebody asked about, by token and by contract: of ERC-1155 what their transfers add up to, of an id that is one thing one
 * where they received it in the newest of their transfers of it, however much is missing before. Neither asks in which order transfers came. Below zero is
 * an amount whose beginning is not known yet, or of a contract that lies. A token that was given away keeps its row, with zero: when history before it
 * comes, its newest change is known.
 */
export const nftWalletTokens: SubjectState = {
  name: 'nft-wallet-tokens',
  version: 2,
  tables: ['nft_wallet_tokens', 'nft_wallet_collections'],
  subjects: {
    column: 'wallet',
    rowsOf: (wallet) => {
      // Every mint and burn of the chain is the zero address', and counts for nothing.
      const of = (side: string): string =>
        `${wallet} <> '\\x${ZERO_ADDRESS.slice(2)}'::bytea AND address_key(${side}) = address_key(${wallet}) AND ${side} = ${wallet}`;
      return [of('to_address'), `${of('from_address')} AND to_address <> ${wallet}`];
    },
    indexes: ['nft_transfers_by_sender', 'nft_transfers_by_recipient'],
  },
  added: (rows, kept, reading = IN_PLACE) => [
    change(sidesOf(AMOUNTS, rows, kept, '+'), 'greatest(held.newest, deltas.place)', reading),
  ],
  removed: (rows, kept, counted, reading = IN_PLACE) => {
    const sides = sidesOf(AMOUNTS, rows, kept, '-');
    return [
      change(sides, newestLeft(sides, counted, reading), reading),
      ...changesLeft(AMOUNTS, { rows, kept, counted }, reading),
    ];
  },
};

/**
 * One statement for all rows: commits of a chain never run side by side, so what it reads of amounts is what it changes.
 * @param newest SQL of the newest side of one thing that is known then, from `held` and `deltas`
 */
function change(sides: string, newest: string, reading: Reading): string {
  const wanted = `SELECT DISTINCT ${KEY} FROM ${sides} AS sides`;
  const amounts = reading.stored({ table: 'nft_wallet_tokens', key: keyOf(AMOUNTS), wanted });
  return `WITH deltas AS (
  SELECT ${KEY}, built_to, sum(delta) AS delta, max(changed_block) AS last_block, max(place) AS place FROM ${sides} AS sides GROUP BY ${KEY}, built_to
), changes AS MATERIALIZED (
  SELECT ${KEY}, deltas.last_block, told.newest, coalesce(held.amount, 0) AS before,
    coalesce(held.amount, 0) + deltas.delta + ${isReceipt('told.newest')} - ${isReceipt('held.newest')} AS after
  FROM deltas LEFT JOIN ${amounts} AS held USING (${KEY}) CROSS JOIN LATERAL (SELECT ${newest} AS newest) AS told
  ORDER BY ${KEY}
), stored AS (
  INSERT INTO nft_wallet_tokens AS held (${KEY}, amount, last_block, newest) SELECT ${KEY}, after, last_block, newest FROM changes
  ON CONFLICT (${KEY}) DO UPDATE
    SET amount = excluded.amount, last_block = greatest(held.last_block, excluded.last_block), newest = excluded.newest
)
INSERT INTO nft_wallet_collections AS holding (wallet, chain_id, token_address, ids_held)
SELECT wallet, chain_id, token_address, sum((after > 0)::int - (before > 0)::int) FROM changes
GROUP BY wallet, chain_id, token_address HAVING sum((after > 0)::int - (before > 0)::int) <> 0 ORDER BY wallet, chain_id, token_address
ON CONFLICT (wallet, chain_id, token_address) DO UPDATE SET ids_held = holding.ids_held + excluded.ids_held`;
}

/** 1 where the wallet received in its newest transfer of one thing, else 0. */
function isReceipt(newest: string): string {
  return `coalesce(${newest} & 1, 0)`;
}

/** Where the newest is among the rows that were removed, it is looked for in those that are left. */
function newestLeft(sides: string, counted: string, reading: Reading): string {
  const newest = defineLookUp({
    name: 'newest_sides',
    by: { wallet: 'bytea', chain_id: 'bigint', token_address: 'bytea', token_id: 'numeric', built_to: 'bigint' },
    wanted: `SELECT ${KEY}, built_to FROM ${sides} AS sides`,
    found: { place: 'bigint' },
    place: WITH_CONTRACT,
    find: (
      at,
      isThere,
    ) => `SELECT ${sidePlace('left_over', `(left_over.to_address = ${at.wallet})::int`)} AS place FROM ${counted} AS left_over
      WHERE ${ofSameId('left_over', at, isThere)} AND ${movesOne('left_over')} AND ${tellsHolder('left_over')}
        AND ${at.wallet} IN (left_over.to_address, left_over.from_address) AND left_over.block_number <= ${at.built_to}
      ORDER BY ${newestFirst('left_over')} LIMIT 1`,
  });
  return `CASE WHEN deltas.place >= held.newest THEN (${reading.lookUp(newest, columnsOf('deltas', newest))}) ELSE held.newest END`;
}
