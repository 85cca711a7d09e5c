import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { balanceOfCall, readBalance, readShownBalances } from '@chainstead/erc20';
import type { UpstreamPool } from '@chainstead/rpc';
import { knownBlock, type StateBlock, stateAt, storedNativeBalances } from '@chainstead/state';

/** What a wallet is said to hold, by the API and by its contract. */
export interface ShownBalance {
  /** Null: the chain's own coin. */
  readonly token: Address | null;
  /** Null where it is not known yet. */
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** After which both are told. */
  readonly block: StateBlock;
  /** What the API shows, in base units; null where it would have to ask first. */
  readonly shown: bigint | null;
  /** What `balanceOf` says, in base units; null where the contract tells none. Of the coin: what an upstream says. */
  readonly told: bigint | null;
  /** The upstream that told it; null where nobody did. */
  readonly toldBy: string | null;
}

const TOKENS_MAX = 100;
/** Asked at a time, one by one, so that it is known who told which. */
const TOGETHER = 8;

/** Tokens that the wallet ever moved, of what is indexed, the latest first. */
export async function listHeldTokens(
  database: Database,
  chain: Pick<Chain, 'id'>,
  wallet: Address,
): Promise<{ readonly tokens: readonly Address[]; readonly isCut: boolean }> {
  const rows = await database.query<{ token: Address }>(
    `SELECT ${hexText('token')} AS token FROM (${MOVED_TABLES.map(rowsOfWallet).join(' UNION ALL ')}) AS moved
     GROUP BY moved.token ORDER BY max(block_number) DESC, moved.token LIMIT $4`,
    [addressKey(wallet), chain.id, addressBytes(wallet), TOKENS_MAX + 1],
  );
  return { tokens: rows.slice(0, TOKENS_MAX).map(({ token }) => token), isCut: rows.length > TOKENS_MAX };
}

const MOVED_TABLES = ['erc20_transfers', 'wrapped_coin_moves'];

function rowsOfWallet(table: string): string {
  return `SELECT token, block_number FROM ${table} WHERE account_key = $1 AND chain_id = $2 AND ${expectedTrue('account = $3')}`;
}

interface BalanceSource {
  readonly database: Database;
  readonly pool: UpstreamPool;
  readonly chain: Chain;
  /** What the API does not show is asked after this block. */
  readonly block: StateBlock;
  /** So old readings are shown without asking again. Milliseconds. */
  readonly maxAgeMs: { readonly live: number; readonly native: number };
}

/**
 * What the API shows of the wallet, and what an upstream says of it after the same block: first the chain's own coin, then the tokens.
 * @throws StateNotArchivedError, UpstreamsExhaustedError, RequestAbortedError
 */
export async function readBalances(
  source: BalanceSource,
  wallet: Address,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<readonly ShownBalance[]> {
  const { database, pool, chain } = source;
  const facts = await readTokenFacts(database, chain, tokens);
  const liveMaxAgeMs = source.maxAgeMs.live;
  const shown = await readShownBalances(database, chain, { wallet, tokens, liveMaxAgeMs });
  const balances: ShownBalance[] = [await readCoin(source, wallet, signal)];
  const read = async (token: Address): Promise<ShownBalance> => {
    const api = shown.get(token);
    const block = api?.block ?? source.block;
    const state = stateAt(pool, chain, block);
    const told = readBalance(await state.call(token, balanceOfCall(wallet), signal));
    const known = facts.get(token) ?? { symbol: null, decimals: null };
    return { token, ...known, block, shown: api?.balance ?? null, told, toldBy: state.upstream };
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
  const told = await state.balance(wallet, signal);
  const { symbol, decimals } = chain.native;
  return {
    ...{ token: null, symbol, decimals, block },
    ...{ shown: wei === null ? null : BigInt(wei), told, toldBy: state.upstream },
  };
}

type TokenFacts = Pick<ShownBalance, 'symbol' | 'decimals'>;

async function readTokenFacts(
  database: Database,
  chain: Pick<Chain, 'id'>,
  tokens: readonly Address[],
): Promise<ReadonlyMap<Address, TokenFacts>> {
  const rows = await database.query<TokenFacts & { readonly address: Address }>(
    `SELECT ${hexText('address')} AS address, symbol, decimals FROM tokens WHERE chain_id = $1 AND address = ANY ($2::bytea[])`,
    [chain.id, tokens.map(addressBytes)],
  );
  return new Map(rows.map(({ address, symbol, decimals }) => [address, { symbol, decimals }]));
}
