import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { getTokenFacts } from '@chainstead/erc20/requests';
import type { ApiDependencies } from '@chainstead/http';
import type { PriceSources } from '../../token-price/read/prices-with-balances.ts';
import type { TokenSupply } from './token-figures.ts';

export async function readSupplies(
  { contracts }: PriceSources,
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  chain: Chain,
  tokens: readonly Address[],
): Promise<ReadonlyMap<Address, TokenSupply>> {
  if (contracts === null || tokens.length === 0) return new Map();
  const { nodeReads } = contracts.balances;
  const facts = await getTokenFacts({ database, logger, nodeReads }, chain, tokens);
  return new Map(
    facts.tokens.flatMap(({ address, totalSupply, decimals }) =>
      totalSupply === null || decimals === null
        ? []
        : [[address, { units: BigInt(totalSupply), decimals }] as const],
    ),
  );
}
