import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, isAddress, parseAddress } from '@chainstead/core';
import { hexBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import { pairOf, poolKey, shownToken } from '@chainstead/markets';
import { areTablesSpread } from '@chainstead/pages';
import {
  addressesStatement,
  addressOf,
  type Candidate,
  type CandidatesQuery,
  textStatement,
} from './search-statement.ts';

export async function readCandidates(database: ReadDatabase, query: CandidatesQuery): Promise<readonly Candidate[]> {
  const address = addressOf(query.query);
  const statement =
    address === null
      ? textStatement(query, await areTablesSpread(database))
      : addressesStatement(await tokensOfAddress(database, query.chains, address), query.verifiedOnly);
  return database.select<Candidate>(statement);
}

type TokenOnChain = { readonly chain: Chain; readonly address: Address };

async function tokensOfAddress(database: ReadDatabase, chains: readonly Chain[], address: Hex) {
  const pools = await database.select<{ chainId: number; token0: Address | null; token1: Address | null }>(
    sql`SELECT chain_id AS "chainId", ${hexText('token0')} AS token0, ${hexText('token1')} AS token1 FROM pools
     WHERE pool_key = ${poolKey(address)}::bigint AND chain_id = ANY (${chains.map(({ id }) => id)}::bigint[]) AND pool = ${hexBytes(address)}::bytea AND status = 'proven' AND is_counted`,
  );
  const ofPools = pools.flatMap(({ chainId, token0, token1 }): readonly TokenOnChain[] => {
    const chain = chains.find(({ id }) => id === chainId);
    if (chain === undefined || token0 === null || token1 === null) return [];
    const { base } = pairOf(token0, token1, chain);
    return [{ chain, address: shownToken(base, chain) }];
  });
  const own = isAddress(address) ? chains.map((chain) => ({ chain, address: parseAddress(address) })) : [];
  return [...new Map([...own, ...ofPools].map((token) => [`${token.chain.id} ${token.address}`, token])).values()];
}
