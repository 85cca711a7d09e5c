import type { SubjectState } from '@chainstead/sync';

/**
 * The newest approval of each token and spender of wallets that somebody asked about: which is newest does not depend on the order in which
 * events arrive. One that was taken back keeps its row, with 0.
 */
export const erc20WalletApprovals: SubjectState = {
  name: 'erc20-wallet-approvals',
  version: 1,
  tables: ['erc20_wallet_approvals'],
  subjects: {
    column: 'wallet',
    rowsOf: (wallet) => [`owner_key = address_key(${wallet}) AND owner = ${wallet}`],
    indexes: ['erc20_approvals_pkey'],
  },
  added: (rows, kept) => [storeNewest(`SELECT * FROM ${rows}`, kept)],
  removed: (rows, kept, counted) => [forget(rows, kept), storeNewest(leftOf(rows, kept, counted), kept)],
};

const KEY = ['wallet', 'chain_id', 'token', 'spender'];
const PLACE = ['block_number', 'transaction_index', 'log_index'];
const SHOWN = ['value', ...PLACE, 'transaction_hash'];

function storeNewest(approvals: string, kept: string): string {
  return `INSERT INTO erc20_wallet_approvals AS held (${[...KEY, ...SHOWN].join(', ')})
SELECT DISTINCT ON (${KEY.join(', ')}) ${[...KEY, ...SHOWN].join(', ')}
FROM (
  SELECT approval.owner AS wallet, approval.* FROM (${approvals}) AS approval
    JOIN ${kept} AS kept ON kept.subject = approval.owner AND approval.block_number <= kept.built_to
) AS found
ORDER BY ${KEY.join(', ')}, ${PLACE.map((column) => `${column} DESC`).join(', ')}
ON CONFLICT (${KEY.join(', ')}) DO UPDATE SET (${SHOWN.join(', ')}) = (${SHOWN.map((column) => `excluded.${column}`).join(', ')})
WHERE (${PLACE.map((column) => `excluded.${column}`).join(', ')}) > (${PLACE.map((column) => `held.${column}`).join(', ')})`;
}

/** What removed rows may have been the newest of. */
function forget(rows: string, kept: string): string {
  return `DELETE FROM erc20_wallet_approvals AS held USING ${touchedBy(rows, kept)} AS touched
WHERE (held.wallet, held.chain_id, held.token, held.spender) = (touched.owner, touched.chain_id, touched.token, touched.spender)`;
}

/** The approvals that are left of the same tokens and spenders. */
function leftOf(rows: string, kept: string, counted: string): string {
  return `SELECT left_over.* FROM ${touchedBy(rows, kept)} AS touched
    JOIN ${counted} AS left_over ON left_over.owner_key = address_key(touched.owner)
      AND (left_over.owner, left_over.chain_id, left_over.token, left_over.spender) = (touched.owner, touched.chain_id, touched.token, touched.spender)`;
}

function touchedBy(rows: string, kept: string): string {
  return `(SELECT DISTINCT gone.owner, gone.chain_id, gone.token, gone.spender FROM ${rows} AS gone
    JOIN ${kept} AS kept ON kept.subject = gone.owner AND gone.block_number <= kept.built_to)`;
}
