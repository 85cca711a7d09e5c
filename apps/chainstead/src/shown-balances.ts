import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, hexText } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { balanceOfCall, readBalance } from '@chainstead/erc20';
import type { UpstreamPool } from '@chainstead/rpc';
import { type StateBlock, stateAt } from '@chainstead/state';

/** What a wallet is said to hold. */
export interface ShownBalance {
  /** Null: the chain's own coin. */
  readonly token: Address | null;
  /** Null where it is not known yet. */
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** Base units; null where the contract tells none. */
  readonly shown: bigint | null;
  /** The upstream that told it; null where it follows from what is indexed. */
  readonly toldBy: string | null;
}

const TOKENS_MAX = 100;
/** Asked at a time, one by one, so that it is known who told which. */
const TOGETHER = 8;

/** Tokens that the wallet ever moved, of indexed transfers, the latest first. */
export async function listHeldTokens(
  database: Database,
  chain: Pick<Chain, 'id'>,
  wallet: Address,
): Promise<{ readonly tokens: readonly Address[]; readonly isCut: boolean }> {
  const rows = await database.query<{ token: Address }>(
    `SELECT ${hexText('token')} AS token FROM erc20_transfers
     WHERE account_key = $1 AND chain_id = $2 AND ${expectedTrue('account = $3')}
     GROUP BY erc20_transfers.token ORDER BY max(block_number) DESC, erc20_transfers.token LIMIT $4`,
    [addressKey(wallet), chain.id, addressBytes(wallet), TOKENS_MAX + 1],
  );
  return { tokens: rows.slice(0, TOKENS_MAX).map(({ token }) => token), isCut: rows.length > TOKENS_MAX };
}

/**
 * What an upstream says of the wallet at the block: first the chain's own coin, then the tokens.
 * @throws StateNotArchivedError, UpstreamsExhaustedError, RequestAbortedError
 */
export async function readShownBalances(
  source: {
    readonly database: Database;
    readonly pool: UpstreamPool;
    readonly chain: Chain;
    readonly block: StateBlock;
  },
  wallet: Address,
  tokens: readonly Address[],
  signal: AbortSignal,
): Promise<readonly ShownBalance[]> {
  const { database, pool, chain, block } = source;
  const facts = await readTokenFacts(database, chain, tokens);
  const state = stateAt(pool, chain, block);
  const { symbol, decimals } = chain.native;
  const wei = await state.balance(wallet, signal);
  const balances: ShownBalance[] = [{ token: null, symbol, decimals, shown: wei, toldBy: state.upstream }];
  const read = async (token: Address): Promise<ShownBalance> => {
    const own = stateAt(pool, chain, block);
    const shown = readBalance(await own.call(token, balanceOfCall(wallet), signal));
    return { token, symbol: null, decimals: null, ...facts.get(token), shown, toldBy: own.upstream };
  };
  for (let from = 0; from < tokens.length; from += TOGETHER)
    balances.push(...(await Promise.all(tokens.slice(from, from + TOGETHER).map(read))));
  return balances;
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
