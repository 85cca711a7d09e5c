import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText, rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { enqueueHistory, type SentTransactions } from '@chainstead/sync';
import type { Subject } from '@chainstead/sync/datasets';
import { readRequester } from '@chainstead/sync/requests';
import { HAS_ROLE } from '../stored/account-transactions-page.ts';
import { ROLES } from '../stored/schema.ts';
import { readWalletSearch } from '../wallets/read-wallet-search.ts';

export const sentTransactions: SentTransactions = {
  async knownBlocks(database, chain, account) {
    return (await readWalletSearch(database, chain, account)).sent;
  },
  list(database, { id }, { account, range, limit }) {
    return database.query<{ block: number; hash: Hash }>(
      sql`SELECT sent.block_number::int8 AS block, ${hexText('known.transaction_hash')} AS hash FROM (
         SELECT transaction_key, chain_id, block_number, transaction_index FROM account_transactions
          WHERE account_key = ${addressKey(account)}::bigint AND ${expectedTrue(sql`account = ${addressBytes(account)}::bytea`)} AND chain_id = ${id}
            AND block_number BETWEEN ${range.from}::bigint AND ${range.to}::bigint AND ${HAS_ROLE} AND roles & ${rawSql(ROLES.sender)} <> 0
          ORDER BY block_number DESC FETCH FIRST (${limit}::int) ROWS WITH TIES) AS sent
         JOIN transactions AS known USING (transaction_key, chain_id, block_number, transaction_index)
        ORDER BY sent.block_number DESC, sent.transaction_index DESC`,
    );
  },
  async search(database, chain, account, maxCalls) {
    if (chain.transactions.mode === 'off') return NOT_STORED;
    const subject: Subject = { chainId: chain.id, kind: 'sender', address: account };
    // A part of the caller's backfill, whatever else its key waits for.
    const perKey = Number.POSITIVE_INFINITY;
    const requestedBy = await readRequester(database, { ...subject, kind: 'trader' });
    if ((await enqueueHistory(database, { subject, requestedBy, perKey, maxCalls })) === 'requested') return null;
    return readRefusal(database, chain, account);
  },
};

const UNKNOWN = 'Swaps in which none of its tokens moved are unknown';
const NOT_STORED = `${UNKNOWN}: with TRANSACTIONS_<CHAIN>=off, the transactions that it sent are not searched`;

async function readRefusal(database: Pick<Database, 'query'>, { id }: Pick<Chain, 'id'>, account: Address) {
  const [search] = await database.query<{ status: string; message: string | null }>(
    sql`SELECT status, error_message AS message FROM backfill_requests WHERE chain_id = ${id} AND kind = 'sender' AND subject = ${addressBytes(account)}`,
  );
  if (search?.status !== 'refused') return null;
  return `${UNKNOWN}: the transactions that it sent can't be searched. ${search.message ?? ''}`.trim();
}
