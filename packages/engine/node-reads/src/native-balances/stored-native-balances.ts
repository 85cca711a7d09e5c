import type { Chain } from '@chainstead/chains';
import { type Address, type ChainId, isAddress, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText, sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { z } from 'zod';
import { committedBlock, knownBlock, type StateBlock } from '../committed-block.ts';
import { stateAt } from '../state-at.ts';
import { StateUnavailableError } from '../state-error.ts';
import type { StateKind, StateReader } from '../state-kind.ts';

const questionSchema = z.object({
  addresses: z.array(z.string().refine(isAddress)).min(1),
  /** Null: the newest committed block. */
  to_block: z.int().min(0).nullable(),
});

const answerSchema = z.object({
  block: z.object({ number: z.int(), hash: z.string(), timestamp: z.int() }),
  /** Wei, decimal digits. */
  balances: z.array(z.string().regex(/^\d+$/)),
});

export const nativeBalancesKind: StateKind<NativeBalancesQuestion, NativeBalancesAnswer> = {
  name: 'native-balances',
  question: questionSchema,
  answer: answerSchema,
};

/** Fees and transfers by contracts leave no logs, so no sum of transfers is right. */
export const nativeBalancesReader: StateReader<NativeBalancesQuestion, NativeBalancesAnswer> = {
  kind: nativeBalancesKind,
  async read({ chain, pool, database }, { addresses, to_block: toBlock }, signal) {
    const newest = await committedBlock(database, chain);
    if (newest === null) throw new StateUnavailableError(`No block of ${chain.name} is indexed yet`);
    const isNewest = toBlock === null || toBlock >= newest.number;
    const block = isNewest ? newest : await blockAt({ chain, pool, database }, toBlock, signal);
    const accounts = addresses.map(parseAddress);
    const balances = (await stateAt(pool, chain, block).balances(accounts, signal)).map(String);
    if (isNewest) await saveNativeBalances(database, chain.id, block, accounts, balances);
    return { block, balances };
  },
};

async function blockAt(
  { chain, pool, database }: { readonly chain: Chain; readonly pool: UpstreamPool; readonly database: Database },
  number: number,
  signal: AbortSignal,
): Promise<StateBlock> {
  const stored = await knownBlock(database, chain, number);
  if (stored !== null) return stored;
  const [header] = await pool.getHeaders([number], { signal });
  if (header === undefined) throw new StateUnavailableError(`No upstream of ${chain.name} has block ${number}`);
  return { number, hash: header.value.hash, timestamp: header.value.timestamp };
}

type NativeBalancesQuestion = z.infer<typeof questionSchema>;
type NativeBalancesAnswer = z.infer<typeof answerSchema>;

export interface NativeBalances {
  readonly block: Pick<StateBlock, 'number' | 'timestamp'>;
  /** Wei, decimal digits; in the order of the requested addresses. */
  readonly balances: readonly string[];
}

async function saveNativeBalances(
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
