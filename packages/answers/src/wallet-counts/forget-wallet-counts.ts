import type { SubjectState } from '@chainstead/sync';

/** Behind which the name of a dataset stands. */
const NAME = 'wallet-counts-of-';

/** The name of the state by which a dataset's rows make counts of wallets forgotten. */
export function walletCountsState(dataset: string): string {
  return `${NAME}${dataset}`;
}

/**
 * Forgets what was counted of wallets (`wallet_counts`) where rows of a dataset came or went: it is counted again when somebody asks. Building it for a
 * wallet counts nothing, and has the changes followed from then on.
 * @param dataset its name
 * @param accounts the columns that have a row's wallets
 */
export function forgetWalletCounts(dataset: string, accounts: readonly string[]): SubjectState {
  const forget = (rows: string, kept: string): readonly string[] => {
    const touched = accounts.map(
      (account) => `SELECT kept.subject, changed.chain_id, changed.block_number
        FROM ${rows} AS changed JOIN ${kept} AS kept ON kept.subject = changed.${account}`,
    );
    return [
      `DELETE FROM wallet_counts AS counted USING (${touched.join(' UNION ')}) AS touched
       WHERE counted.wallet = touched.subject AND counted.chain_id = touched.chain_id
         AND touched.block_number BETWEEN counted.first_block AND counted.last_block`,
    ];
  };
  return {
    name: walletCountsState(dataset),
    version: 1,
    tables: ['wallet_counts'],
    subjects: { column: 'wallet', rowsOf: () => ['false'], indexes: [] },
    added: forget,
    removed: forget,
    dropped: (chainId, { from, to }) => [
      `DELETE FROM wallet_counts WHERE chain_id = ${chainId} AND first_block <= ${to} AND last_block >= ${from}`,
    ],
  };
}
