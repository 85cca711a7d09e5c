import type { Chain } from '@chainstead/chains';
import { type Address, waitingAtMost } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { nftTransfers } from '../dataset.ts';
import { nftWalletTokens } from '../wallet-tokens.ts';

/**
 * Requests all accounts that NFTs of the chain have moved from or to, so that their holdings are maintained from now
 * on. Accounts that are already complete are skipped: after each of a hundred blocks that would be thousands of
 * requests.
 */
export async function keepAllWallets(database: Database, chain: Chain): Promise<void> {
  const projections = createSubjectProjections(database);
  const rows = await database.query<{ account: Address }>(
    sql`SELECT ${hexText('account')} AS account FROM (
       SELECT from_address AS account FROM nft_transfers WHERE chain_id = ${chain.id}
       UNION SELECT to_address FROM nft_transfers WHERE chain_id = ${chain.id}) AS moved
     WHERE NOT EXISTS (SELECT FROM subject_projections AS kept WHERE kept.chain_id = ${chain.id} AND state = ${nftWalletTokens.name} AND subject = account AND built_to IS NULL AND NOT is_stale)
       OR NOT EXISTS (SELECT FROM projections AS known WHERE known.chain_id = ${chain.id} AND state = ${nftWalletTokens.name} AND version = ${nftWalletTokens.version})`,
  );
  const keep = async ({ account }: { readonly account: Address }): Promise<void> => {
    const of = { dataset: nftTransfers, state: nftWalletTokens };
    const progress = await waitingAtMost(60_000, () => projections.keep(chain, of, account));
    if (progress !== 'built') throw new Error(`What ${account} holds is not counted: ${progress}`);
  };
  await Promise.all(rows.map(keep));
}

/**
 * Returns the stored holdings of a chain's wallets as sorted lines of text: amounts, and ids by contract. Amounts of
 * zero are left out.
 */
export async function storedHoldings(database: Database, chainId: number): Promise<string[]> {
  const rows = await database.query<{ line: string }>(
    sql`SELECT concat_ws(' ', ${hexText('wallet')}, ${hexText('token_address')}, token_id, amount) AS line
       FROM nft_wallet_tokens WHERE chain_id = ${chainId} AND amount <> 0
     UNION ALL
     SELECT concat_ws(' ', ${hexText('wallet')}, ${hexText('token_address')}, 'holds', ids_held)
       FROM nft_wallet_collections WHERE chain_id = ${chainId} AND ids_held <> 0`,
  );
  return rows.map(({ line }) => line).sort();
}
