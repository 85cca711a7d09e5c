import type { Chain } from '@chainstead/chains';
import type { Address, ChainId } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText, sql } from '@chainstead/db';
import { knownBlock, type StateBlock } from '../committed-block.ts';

export interface NativeBalances {
  readonly block: Pick<StateBlock, 'number' | 'timestamp'>;
  /** Wei, decimal digits; in the order of the requested addresses. */
  readonly balances: readonly string[];
}

export async function saveNativeBalances(
  database: Database,
  chainId: ChainId,
  block: StateBlock,
  accounts: readonly Address[],
  balances: readonly string[],
): Promise<void> {
  await database.query(
    sql`INSERT INTO native_balances (account, chain_id, wei, block_number, block_hash)
     SELECT account, ${chainId}, wei, ${block.number}, ${hexBytes(block.hash)} FROM unnest(${accounts.map(addressBytes)}::bytea[], ${balances}::numeric[]) AS reported (account, wei) ORDER BY account
     ON CONFLICT (account, chain_id) DO UPDATE SET
       wei = excluded.wei, block_number = excluded.block_number, block_hash = excluded.block_hash, read_at = excluded.read_at`,
  );
}

/** All accounts at one block of the current branch; null otherwise. */
export async function storedNativeBalances(
  database: Database,
  chain: Pick<Chain, 'id'>,
  accounts: readonly Address[],
  maxAgeMs: number,
): Promise<NativeBalances | null> {
  const rows = await database.query<{ account: Address; wei: string; number: number; hash: string }>(
    sql`SELECT ${hexText('account')} AS account, wei::text, block_number AS number, ${hexText('block_hash')} AS hash
     FROM native_balances WHERE account = ANY (${accounts.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id} AND read_at > now() - make_interval(secs => ${maxAgeMs / 1_000}::float8)`,
  );
  const [first] = rows;
  if (first === undefined || rows.some(({ hash }) => hash !== first.hash)) return null;
  const byAccount = new Map(rows.map(({ account, wei }) => [account, wei]));
  const balances = accounts.flatMap((account) => byAccount.get(account) ?? []);
  if (balances.length < accounts.length) return null;
  const block = await knownBlock(database, chain, first.number);
  // Null after a reorg removed the block.
  return block?.hash === first.hash ? { block, balances } : null;
}
