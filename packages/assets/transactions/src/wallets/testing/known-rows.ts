/** The stored rows of a wallet, and those from a node, in one format. For tests. */
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText, sql } from '@chainstead/db';
import type { Devnet } from '@chainstead/testkit';

export interface KnownRow {
  readonly block: number;
  /** Bits of `ROLES`. */
  readonly roles: number;
  readonly text: string;
}

/** Every row of a wallet from the node's own blocks and receipts, ascending. */
export async function nodeRows(
  { client }: Devnet,
  wallets: readonly Address[],
): Promise<ReadonlyMap<Address, readonly KnownRow[]>> {
  const found = new Map<Address, KnownRow[]>(wallets.map((wallet) => [wallet, []]));
  const head = Number(await client.getBlockNumber({ cacheTime: 0 }));
  for (let block = 0; block <= head; block += 1) {
    const { hash, transactions } = await client.getBlock({
      blockNumber: BigInt(block),
      includeTransactions: true,
    });
    for (const one of transactions) {
      const receipt = await client.getTransactionReceipt({ hash: one.hash });
      const parties = [one.from, one.to, receipt.status === 'success' ? receipt.contractAddress : null];
      for (const [wallet, rows] of found) {
        const roles = parties.reduce(
          (sum, party, bit) => sum + (party?.toLowerCase() === wallet ? 2 ** bit : 0),
          0,
        );
        const { from, to, nonce, value } = one;
        const shown = [
          block,
          one.transactionIndex,
          hash,
          one.hash,
          roles,
          from,
          to ?? 'none',
          nonce,
          value,
          receipt.gasUsed,
        ];
        if (roles > 0) rows.push({ block, roles, text: shown.join(' ').toLowerCase() });
      }
    }
  }
  return found;
}

/** Every stored row of a transaction with a role of the wallet, ascending. */
export async function storedRows(
  database: Database,
  chainId: number,
  wallet: Address,
): Promise<readonly KnownRow[]> {
  return database.query<KnownRow>(
    sql`SELECT block_number AS block, roles, concat_ws(' ', block_number, part.transaction_index, ${hexText('block_hash')}, ${hexText('transaction_hash')}, roles,
       ${hexText('from_address')}, coalesce(${hexText('to_address')}, 'none'), nonce, value, gas_used) AS text
     FROM account_transactions AS part JOIN transactions USING (transaction_key, chain_id, block_number) JOIN blocks USING (chain_id, block_number)
     WHERE part.chain_id = ${chainId} AND part.account = ${addressBytes(wallet)} AND roles > 0 ORDER BY block_number, part.transaction_index`,
  );
}
