import { type Address, type ChainId, ZERO_ADDRESS } from '@chainstead/core';
import { columnsOf, defineLookUp, IN_PLACE, type Reading, type SubjectState } from '@chainstead/sync';
import { MOVED_TABLES, withAccount } from '../moved-tables.ts';

/**
 * What transfers of a wallet that somebody asked about add up to, by token, with what it wrapped and unwrapped of the chain's coin: in all, and
 * above the block at which the contract itself was asked (docs/balances.md). Sums don't ask in which order transfers came. A token whose transfers are gone keeps its row while what its
 * contract said is known.
 */
export const erc20WalletTokens: SubjectState = {
  name: 'erc20-wallet-tokens',
  version: 2,
  tables: ['erc20_wallet_tokens'],
  counts: MOVED_TABLES,
  subjects: {
    column: 'wallet',
    // Every mint and burn of the chain is the zero address', and it holds nothing.
    rowsOf: (wallet) => [
      `${wallet} <> ${bytesOf(ZERO_ADDRESS)} AND account_key = address_key(${wallet}) AND account = ${wallet}`,
    ],
    indexes: ['erc20_transfers_pkey', 'wrapped_coin_moves_pkey'],
  },
  added: (rows, kept, reading = IN_PLACE) => [change(rows, kept, '+', reading)],
  removed: (rows, kept, counted, reading = IN_PLACE) => [
    change(rows, kept, '-', reading),
    findNewestMovements(rows, kept, counted, reading),
    forgetUnmoved(rows, kept),
  ],
  rolledBack: (chainId, ancestor) => [forgetUnknown(chainId, ancestor), forgetAnchors(chainId, ancestor)],
};

/** One statement for all rows: commits of a chain never run side by side, so the anchors that it reads are those that it counts from. */
function change(rows: string, kept: string, sign: '+' | '-', reading: Reading): string {
  const sides = sidesOf(rows, kept, sign);
  const key = ['wallet', 'chain_id', 'token'];
  const wanted = `SELECT DISTINCT ${key.join(', ')} FROM ${sides} AS side`;
  const anchors = reading.stored({ table: 'erc20_wallet_tokens', key, wanted });
  return `INSERT INTO erc20_wallet_tokens AS held (wallet, chain_id, token, total, moved_block, moved_transaction, moved_log, since)
SELECT wallet, chain_id, token, sum(delta), newest[1], newest[2], newest[3], coalesce(sum(since), 0) FROM (
  SELECT side.wallet, side.chain_id, side.token, side.delta,
    max(ARRAY[side.block_number, side.transaction_index, side.log_index]) OVER (PARTITION BY side.wallet, side.chain_id, side.token) AS newest,
    CASE WHEN side.block_number > anchored.anchor_block THEN side.delta END AS since
  FROM ${sides} AS side LEFT JOIN ${anchors} AS anchored USING (wallet, chain_id, token)
) AS changed
GROUP BY wallet, chain_id, token, newest ORDER BY wallet, chain_id, token
ON CONFLICT (wallet, chain_id, token) DO UPDATE SET total = held.total + excluded.total, since = held.since + excluded.since${
    sign === '+' ? `,\n  ${MOVED.map((column) => `${column} = ${laterOf(column)}`).join(', ')}` : ''
  }`;
}

const MOVED = ['moved_block', 'moved_transaction', 'moved_log'];

function laterOf(column: string): string {
  const place = (row: string): string => `(${MOVED.map((each) => `${row}.${each}`).join(', ')})`;
  return `CASE WHEN ${place('excluded')} > ${place('held')} THEN excluded.${column} ELSE held.${column} END`;
}

/** The newest movement of each token that lost one, from the rows that are left. */
function findNewestMovements(rows: string, kept: string, counted: string, reading: Reading): string {
  const touched = `SELECT DISTINCT wallet, chain_id, token, built_to FROM ${sidesOf(rows, kept, '-')} AS side`;
  const newest = defineLookUp({
    name: 'newest_movements',
    by: { wallet: 'bytea', chain_id: 'bigint', token: 'bytea', built_to: 'bigint' },
    wanted: touched,
    found: { place: 'integer[]' },
    place: withAccount('wallet'),
    find: (
      at,
      isThere,
    ) => `SELECT ARRAY[block_number, transaction_index, log_index] AS place FROM ${counted} AS counted_row
      WHERE ${isThere('counted_row.account_key')} AND token_key(counted_row.token) = token_key(${at.token})
        AND counted_row.chain_id = ${at.chain_id} AND counted_row.account = ${at.wallet} AND counted_row.token = ${at.token}
        AND counted_row.block_number <= ${at.built_to}
      ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT 1`,
  });
  const left = reading.lookUp(newest, columnsOf('touched', newest));
  return `WITH left_over AS MATERIALIZED (
  SELECT touched.wallet, touched.chain_id, touched.token, newest.place FROM (${touched}) AS touched LEFT JOIN LATERAL (${left}) AS newest ON true
)
UPDATE erc20_wallet_tokens AS held SET ${MOVED.map((column, index) => `${column} = coalesce(left_over.place[${index + 1}], ${NONE})`).join(', ')}
FROM left_over WHERE (held.wallet, held.chain_id, held.token) = (left_over.wallet, left_over.chain_id, left_over.token)`;
}

/** A token of which nothing is left, and nothing else is known. */
function forgetUnmoved(rows: string, kept: string): string {
  return `DELETE FROM erc20_wallet_tokens AS held
USING (SELECT DISTINCT wallet, chain_id, token FROM ${sidesOf(rows, kept, '-')} AS side) AS touched
WHERE (held.wallet, held.chain_id, held.token) = (touched.wallet, touched.chain_id, touched.token)
  AND held.moved_block = ${NONE} AND held.anchor_block IS NULL`;
}

/** What is known of a token only from a block that is gone. */
function forgetUnknown(chainId: ChainId, ancestor: number): string {
  return `DELETE FROM erc20_wallet_tokens WHERE chain_id = ${chainId} AND anchor_block > ${ancestor} AND moved_block = ${NONE}`;
}

/** What a contract said at a block that is gone. */
function forgetAnchors(chainId: ChainId, ancestor: number): string {
  return `UPDATE erc20_wallet_tokens SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL
WHERE chain_id = ${chainId} AND anchor_block > ${ancestor}`;
}

/** What rows change for the kept wallets. Each is one side of a transfer; one to itself changes nothing. */
function sidesOf(rows: string, kept: string, sign: '+' | '-'): string {
  return `(SELECT moved.account AS wallet, moved.chain_id, moved.token, moved.block_number, moved.transaction_index, moved.log_index,
      CASE moved.direction WHEN 1 THEN ${sign}moved.value WHEN 0 THEN -(${sign}moved.value) ELSE 0 END AS delta, kept.built_to
    FROM ${rows} AS moved JOIN ${kept} AS kept ON kept.subject = moved.account AND moved.block_number <= kept.built_to
    WHERE moved.account <> ${bytesOf(ZERO_ADDRESS)})`;
}

function bytesOf(address: Address): string {
  return `'\\x${address.slice(2)}'::bytea`;
}

/** Instead of a block, where no movement is known. */
const NONE = -1;
