import type { Chain } from '@chainstead/chains';
import {
  type Address,
  addFractions,
  cents,
  decimalAmount,
  type Fraction,
  wholeFraction,
  ZERO_ADDRESS,
} from '@chainstead/core';
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
import { type Indexed, indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { priceSourcesOf } from '../token-price/read/prices-with-balances.ts';
import { type PriceLimits, priceLimits } from '../token-price/serve/price-reader.ts';
import {
  dollarValue,
  holdingOf,
  nativeHolding,
  payableValue,
  readHeldPrices,
  sumOf,
  TOKENS_MAX,
  totalOf,
} from './held-values.ts';
import { nativeOf, type WalletTokensOptions } from './wallet-tokens-route.ts';

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

const dollars = (description: string) => z.string().openapi({ pattern: '^[0-9]+\\.[0-9]{2}$', description });

/** docs/api/wallets.md#net-worth */
const netWorthSchema = z
  .object({
    total_networth_usd: dollars('US dollars on all chains'),
    chains: z
      .array(
        z
          .object({
            chain: z.string().openapi({ description: 'Name of the chain' }),
            native_balance: z.string().openapi({
              pattern: '^[0-9]+$',
              description: 'Native balance in base units. 0 if no node returned it',
            }),
            native_balance_formatted: z.string().openapi({ description: 'The same in whole tokens' }),
            native_balance_usd: dollars('Value of the native balance. 0.00 without a price'),
            token_balance_usd: dollars('Value of all tokens with a price'),
            token_balance_usd_uncapped: dollars('The same, without the limit by the depth of the pools'),
            networth_usd: dollars('Sum of both'),
            indexed: indexedSchema,
          })
          .openapi('ChainNetWorth'),
      )
      .openapi({ description: 'Indexed chains' }),
    unsupported_chain_ids: z
      .array(z.string())
      .openapi({ description: 'Always empty: unknown chains are rejected' }),
    unavailable_chains: z
      .array(z.object({ chain_id: z.string().openapi({ description: 'Hexadecimal chain id' }) }))
      .openapi({ description: 'Requested chains that are not indexed' }),
  })
  .openapi('NetWorth');

interface ChainNetWorth {
  readonly chain: Chain;
  readonly native: bigint;
  /** US dollars of the native balance, and of all tokens. */
  readonly nativeValue: Fraction;
  readonly tokensValue: Fraction;
  /** Without the limit by the depth of the pools. */
  readonly uncappedValue: Fraction;
  readonly indexed: Indexed;
}

function showNetWorth(
  found: readonly ChainNetWorth[],
  unavailable: readonly Chain[],
): z.infer<typeof netWorthSchema> {
  return {
    total_networth_usd: cents(sumOf(found.flatMap(({ nativeValue, tokensValue }) => [nativeValue, tokensValue]))),
    chains: found.map(({ chain, native, nativeValue, tokensValue, uncappedValue, indexed }) => ({
      chain: chain.key,
      native_balance: native.toString(),
      native_balance_formatted: decimalAmount(native.toString(), chain.native.decimals),
      native_balance_usd: cents(nativeValue),
      token_balance_usd: cents(tokensValue),
      token_balance_usd_uncapped: cents(uncappedValue),
      networth_usd: cents(addFractions(nativeValue, tokensValue)),
      indexed: showIndexed(indexed),
    })),
    unsupported_chain_ids: [],
    unavailable_chains: unavailable.map(({ id }) => ({ chain_id: `0x${id.toString(16)}` })),
  };
}
