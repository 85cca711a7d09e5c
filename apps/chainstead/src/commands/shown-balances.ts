import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText, joinSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { balanceOfCall, readBalance, readShownBalances } from '@chainstead/erc20';
import { stateAt, storedNativeBalances } from '@chainstead/node-reads';
import { knownBlock, type StateBlock } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import { readTokenBook } from '@chainstead/tokens/token-book';

export interface ShownBalance {
  /** Null: the native token. */
  readonly token: Address | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly block: StateBlock;
  /** By the API, in base units; null: it needs a contract call first. */
  readonly shown: bigint | null;
  /** `balanceOf`, or the native balance, from an upstream; null: none returned. Base units. */
  readonly reported: bigint | null;
  readonly reportedBy: string | null;
}

const TOKENS_MAX = 100;
/** Unbatched, so that the upstream of each response is known. */
const TOGETHER = 8;

export async function listHeldTokens(
  database: Database,
  chain: Pick<Chain, 'id'>,
  wallet: Address,
): Promise<{ readonly tokens: readonly Address[]; readonly isCut: boolean }> {
  const isOfWallet = sql`account_key = ${addressKey(wallet)} AND chain_id = ${chain.id} AND ${expectedTrue(sql`account = ${addressBytes(wallet)}`)}`;
  const moved = MOVED_TABLES.map((table) => sql`SELECT token, block_number FROM ${table} WHERE ${isOfWallet}`);
  const rows = await database.query<{ token: Address }>(
    sql`SELECT ${hexText('token')} AS token FROM (${joinSql(moved, ' UNION ALL ')}) AS moved
     GROUP BY moved.token ORDER BY max(block_number) DESC, moved.token LIMIT ${TOKENS_MAX + 1}`,
  );
  return { tokens: rows.slice(0, TOKENS_MAX).map(({ token }) => token), isCut: rows.length > TOKENS_MAX };
}

const MOVED_TABLES = [sql`erc20_transfer_sides`, sql`wrapped_coin_moves`];

interface BalanceSource {
  readonly database: Database;
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  readonly block: StateBlock;
  readonly maxAgeMs: { readonly live: number; readonly native: number };
}

/** @throws StateNotArchivedError, UpstreamsExhaustedError, RequestAbortedError */
export async function readBalances(
  source: BalanceSource,
  wallet: Address,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<readonly ShownBalance[]> {
  const { database, pool, chain } = source;
  const tokenOf = await readTokenBook(database, chain, tokens);
  const liveMaxAgeMs = source.maxAgeMs.live;
  const shown = await readShownBalances(database, chain, { wallet, tokens, liveMaxAgeMs });
  const balances: ShownBalance[] = [await readCoin(source, wallet, signal)];
  const read = async (token: Address): Promise<ShownBalance> => {
    const api = shown.get(token);
    const block = api?.block ?? source.block;
    const state = stateAt(pool, chain, block);
    const reported = readBalance(await state.call(token, balanceOfCall(wallet), signal));
    const { symbol, decimals } = tokenOf(token);
    return { token, symbol, decimals, block, shown: api?.balance ?? null, reported, reportedBy: state.upstream };
  };
  for (let from = 0; from < tokens.length; from += TOGETHER)
    balances.push(...(await Promise.all(tokens.slice(from, from + TOGETHER).map(read))));
  return balances;
}

async function readCoin(
  { database, pool, chain, block: newest, maxAgeMs }: BalanceSource,
  wallet: Address,
  signal: AbortSignal,
): Promise<ShownBalance> {
  const stored = await storedNativeBalances(database, chain, [wallet], maxAgeMs.native);
  const storedBlock = stored === null ? null : await knownBlock(database, chain, stored.block.number);
  const [wei = null] = storedBlock === null ? [] : (stored?.balances ?? []);
  const block = storedBlock ?? newest;
  const state = stateAt(pool, chain, block);
  const reported = await state.balance(wallet, signal);
  const { symbol, decimals } = chain.native;
  return {
    ...{ token: null, symbol, decimals, block },
    ...{ shown: wei === null ? null : BigInt(wei), reported, reportedBy: state.upstream },
  };
}
