import type { Chain } from '@chainstead/chains';
import { type Address, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import { erc20Transfers, resolveWalletBalances } from '@chainstead/erc20/requests';
import {
  type ApiDependencies,
  booleanParameter,
  chainsParameter,
  defineRoute,
  indexedChain,
  knownChainsOf,
  type RouteModule,
} from '@chainstead/http';
import { priceSourcesOf } from '../token-price/read/prices-with-balances.ts';
import { type PriceLimits, priceLimits } from '../token-price/serve/price-parameters.ts';
import { readHeldPrices, TOKENS_MAX } from './held-prices.ts';
import { dollarValue, holdingOf, nativeHolding, payableValue, sumOf, totalOf } from './held-values.ts';
import { nativeOf } from './native-balance.ts';
import { type ChainNetWorth, netWorthSchema, showNetWorth } from './net-worth-response.ts';
import type { WalletTokensOptions } from './wallet-tokens-route.ts';

export interface NetWorthOptions extends WalletTokensOptions {
  readonly served: readonly Chain[];
}

interface NetWorthRequest extends PriceLimits {
  readonly exclude_spam?: boolean | undefined;
  readonly exclude_unverified_contracts?: boolean | undefined;
}

/** docs/api/wallets.md#net-worth. Counts what pools could pay out: airdrops add next to nothing. */
export function createNetWorthRoute(options: NetWorthOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/net-worth',
      operationId: 'getWalletNetWorth',
      tags: ['Wallets'],
      summary: 'Get the net worth of a wallet',
      description:
        'Value of the native token and of all priced tokens by chain, at the newest indexed block. A token counts with at most the depth of its pools. Up to 2,000 tokens per chain count, those that moved last.',
      params: { address: parameters.address },
      query: {
        exclude_spam: booleanParameter({
          default: false,
          description: 'Leaves out tokens that are possible spam.',
        }),
        exclude_unverified_contracts: booleanParameter({
          default: false,
          description: 'Counts only the native token and tokens of imported lists.',
        }),
        ...priceLimits({
          inactivity: `Maximum number of days since the pools of a token have moved. ${OF_TOKENS}`,
          depth: `US dollars that each side of a pool must hold. Default: 500. ${OF_TOKENS}`,
        }),
      },
      lists: { chains: chainsParameter('Chains to count, in this order. Default: all indexed chains by ID.') },
      response: { description: 'The net worth', schema: netWorthSchema },
      async answer({ address, chains: requested, requester, ...query }) {
        const wanted =
          requested === undefined
            ? options.served.toSorted((a, b) => a.id - b.id)
            : knownChainsOf(chains, requested);
        const served = wanted.filter((chain) => chains.isIndexed(chain));
        for (const { key } of served) indexedChain(chains, key, erc20Transfers.name);
        const unavailable = wanted.filter((chain) => !chains.isIndexed(chain));
        const byChain = await Promise.all(
          served.map((chain) => readNetWorth(options, dependencies, chain, { address, requester, query })),
        );
        return showNetWorth(byChain, unavailable);
      },
    });
  };
}

const OF_TOKENS = 'Other tokens do not count.';

async function readNetWorth(
  options: NetWorthOptions,
  dependencies: ApiDependencies,
  chain: Chain,
  { address: wallet, requester, query }: { address: Address; requester: string; query: NetWorthRequest },
): Promise<ChainNetWorth> {
  const { nodeReads, projections, onDemandBackfill, liveMaxAgeMs, nativeMaxAgeMs } = options;
  const { database, logger } = dependencies;
  const priceSources = priceSourcesOf({ ...dependencies, reads: dependencies.database }, options);
  const ofNative = { nodeReads, maxAgeMs: nativeMaxAgeMs };
  const native =
    wallet === ZERO_ADDRESS
      ? { balance: 0n, isKnown: true }
      : await nativeOf(ofNative, dependencies, chain, { wallet, toBlock: null });
  const reported = await resolveWalletBalances({ database, nodeReads, projections, logger }, chain, {
    wallet,
    tokens: null,
    excludeSpam: query.exclude_spam ?? false,
    verifiedOnly: query.exclude_unverified_contracts ?? false,
    toBlock: null,
    limit: TOKENS_MAX,
    order: null,
    liveMaxAgeMs,
  });
  if (!reported.isCovered && wallet !== ZERO_ADDRESS)
    await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
  const held = reported.balances.map(({ token }) => token);
  const block = reported.indexed.toBlock ?? 0;
  const prices = await readHeldPrices(priceSources, chain, [ZERO_ADDRESS, ...held], {
    ...{ block, limits: query, changing: [] },
  });
  const holdings = reported.balances.map((balance) => holdingOf(balance, prices));
  const complete = reported.isComplete && !reported.hasNext && native.isKnown;
  return {
    ...{ chain, native: native.balance },
    nativeValue: dollarValue(nativeHolding(chain, native.balance, prices)) ?? wholeFraction(0n),
    tokensValue: sumOf(holdings.map(payableValue)),
    uncappedValue: totalOf(holdings),
    indexed: { ...reported.indexed, complete },
  };
}
