import type { Chain } from '@chainstead/chains';
import {
  type Address,
  decimalFraction,
  type Fraction,
  waitingAtMost,
  waitLeft,
  ZERO_ADDRESS,
} from '@chainstead/core';
import type { WalletBalancesOptions } from '@chainstead/erc20';
import {
  erc20Transfers,
  type ResolvedBalances,
  resolveWalletBalances,
  type SettledOrder,
} from '@chainstead/erc20/requests';
import {
  type ApiDependencies,
  booleanParameter,
  defineListRoute,
  type Page,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { getNativeBalances, type NativeBalancesOptions } from '@chainstead/node-reads/native-balance-routes';
import { unlessUnavailable } from '@chainstead/node-reads/requests';
import { showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { priceSourcesOf } from '../token-price/read/prices-with-balances.ts';
import { type PriceLimits, priceLimits } from '../token-price/serve/price-reader.ts';
import { readDecimal } from '../token-price/serve/shown-values.ts';
import { type HeldPrices, holdingOf, nativeHolding, readHeldPrices, TOKENS_MAX, totalOf } from './held-values.ts';
import {
  NATIVE_ADDRESS,
  showNativeToken,
  showWalletToken,
  walletTokensSchema,
} from './wallet-tokens-response.ts';

export interface WalletTokensOptions extends WalletBalancesOptions {
  /** Milliseconds (`NATIVE_BALANCE_MAX_AGE_MS`). */
  readonly nativeMaxAgeMs: number;
}

/** docs/api/wallets.md#wallet-tokens. All pages show the newest block of the first one. */
export function createWalletTokensRoute(options: WalletTokensOptions): RouteModule {
  const { nodeReads, projections, onDemandBackfill, liveMaxAgeMs, nativeMaxAgeMs } = options;
  return (app, dependencies) => {
    const { database, logger, parameters } = dependencies;
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/tokens',
      operationId: 'getWalletTokenBalancesPrice',
      tags: ['Wallets'],
      summary: 'List token balances of a wallet with prices',
      description:
        'The native token, then tokens of imported lists, then other tokens, each by last transfer. Prices are those at the block of the balances; tokens without one have null. A balance is the value returned by the contract plus later transfers; tokens without such a value are omitted.',
      params: z.object({ address: parameters.address }),
      query: queryOf(parameters),
      response: { description: 'A page of token balances', schema: walletTokensSchema },
      errors: [404],
      datasets: [erc20Transfers.name],
      cursorName: 'wallet-tokens',
      filter: filterSchema,
      filterOf: ({ address, chain, to_block, token_addresses, ...given }) => ({
        ...{ address, chain: chain?.key, to_block, token_addresses },
        exclude_spam: given.exclude_spam,
        exclude_unverified_contracts: given.exclude_unverified_contracts,
        exclude_native: given.exclude_native,
        ...limitsText(given),
      }),
      position: positionSchema,
      firstPage: 0,
      read: async ({ chain, requester, ...page }) => {
        const { filter } = page;
        const priceSources = priceSourcesOf({ ...dependencies, reads: dependencies.database }, options);
        const wallet = filter.address as Address;
        const ofNative = { nodeReads, maxAgeMs: nativeMaxAgeMs };
        const native = showsNative(page)
          ? await nativeOf(ofNative, dependencies, chain, { wallet, toBlock: filter.to_block })
          : { balance: 0n, isKnown: true };
        const { exclude_spam: excludeSpam, exclude_unverified_contracts: verifiedOnly } = filter;
        const request = { wallet, tokens: namedTokens(page), excludeSpam, verifiedOnly, liveMaxAgeMs };
        const sources = { database, nodeReads, projections, logger };
        const reported = await resolveWalletBalances(sources, chain, {
          ...request,
          toBlock: page.upperBound ?? filter.to_block,
          limit: page.limit - (native.balance === 0n ? 0 : 1),
          order: orderOf(chain, page),
        });
        if (!reported.isCovered && wallet !== ZERO_ADDRESS)
          await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
        const block = blockOf(page, reported);
        // The page has waited for contracts. Past blocks may need nodes for each token.
        const wait = filter.to_block === null ? 0 : waitLeft();
        const whole = { ...request, toBlock: filter.to_block, limit: TOKENS_MAX, order: null };
        const readAll = () => waitingAtMost(wait, () => resolveWalletBalances(sources, chain, whole));
        const all = page.position === null && reported.hasNext ? (await readAll()).balances : reported.balances;
        const tokensOf = (some: typeof all) => [ZERO_ADDRESS, ...some.map(({ token }) => token)];
        const prices = await readHeldPrices(priceSources, chain, tokensOf([...all, ...reported.balances]), {
          ...{ block, limits: limitsOf(filter), changing: tokensOf(reported.balances) },
        });
        const total =
          page.position === null
            ? totalOf([
                nativeHolding(chain, native.balance, prices),
                ...all.map((held) => holdingOf(held, prices)),
              ])
            : readDecimal(page.position.total);
        const position = { after: placeAfter(page, reported), total: decimalFraction(total, TOTAL_DIGITS) };
        const next = reported.hasNext ? { position, upperBound: block } : null;
        return { ...reported, chain, native, block, prices, total, next };
      },
      present: ({ native, block, indexed, isComplete, unread, ...found }, { page, page_size, cursor }) => ({
        ...{ page, page_size, block_number: block, cursor },
        indexed: showIndexed({ ...indexed, complete: isComplete && native.isKnown }),
        unread_tokens: [...(native.isKnown ? [] : [NATIVE_ADDRESS]), ...unread],
        result: showRows(found, native.balance),
      }),
    });
  };
}

function showRows(
  found: Pick<ResolvedBalances, 'balances'> & { chain: Chain; prices: HeldPrices; total: Fraction },
  native: bigint,
) {
  const { chain, balances, prices, total } = found;
  const rows = balances.map((held) => showWalletToken(held, prices.get(held.token), total));
  return native === 0n ? rows : [showNativeToken(chain, native, prices.get(ZERO_ADDRESS), total), ...rows];
}

const TOTAL_DIGITS = 30;

const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  to_block: z.int().nullable().default(null),
  token_addresses: z.array(z.string()).readonly().nullable().default(null),
  exclude_spam: z.boolean().default(false),
  exclude_unverified_contracts: z.boolean().default(false),
  exclude_native: z.boolean().default(false),
  max_token_inactivity: z.number().nullable().default(null),
  /** A plain decimal. */
  min_pair_side_liquidity_usd: z.string().nullable().default(null),
});

function limitsText({ max_token_inactivity, min_pair_side_liquidity_usd: depth }: PriceLimits) {
  return {
    max_token_inactivity,
    min_pair_side_liquidity_usd: depth === undefined ? undefined : decimalFraction(depth, TOTAL_DIGITS),
  };
}

function limitsOf(filter: TokensPage['filter']): PriceLimits {
  const { max_token_inactivity: days, min_pair_side_liquidity_usd: depth } = filter;
  return {
    max_token_inactivity: days ?? undefined,
    min_pair_side_liquidity_usd: depth === null ? undefined : readDecimal(depth),
  };
}

/** Null: the previous page had only the native token. */
const positionSchema = z.object({
  /** US dollars, plain decimal. */
  total: z.string().regex(/^\d+(\.\d+)?$/),
  after: z.object({ verified: z.boolean(), place: z.array(z.int()).length(3), token: z.string() }).nullable(),
});

type TokensPage = Page<z.infer<typeof filterSchema>, z.infer<typeof positionSchema>>;

/** On the first page, unless tokens are named without it. */
function showsNative({ position, filter }: TokensPage): boolean {
  const { address, exclude_native: isExcluded, token_addresses: named } = filter;
  return (
    position === null && !isExcluded && address !== ZERO_ADDRESS && (named?.includes(NATIVE_ADDRESS) ?? true)
  );
}

function blockOf({ upperBound, filter }: TokensPage, { indexed }: ResolvedBalances): number {
  if (upperBound !== null) return upperBound;
  const newest = indexed.toBlock ?? 0;
  return filter.to_block === null ? newest : Math.min(filter.to_block, newest);
}

function namedTokens({ filter }: TokensPage): readonly Address[] | null {
  const named = filter.token_addresses as readonly Address[] | null;
  return named?.filter((token) => token !== NATIVE_ADDRESS) ?? null;
}

function orderOf({ reorgDepthMax }: Chain, { position, upperBound }: TokensPage): SettledOrder {
  const after = position?.after ?? null;
  const place = after === null ? null : { ...after, token: after.token as Address };
  return { pinned: upperBound, depth: reorgDepthMax, after: place };
}

function placeAfter(
  { position }: TokensPage,
  { last }: ResolvedBalances,
): z.infer<typeof positionSchema>['after'] {
  if (last === null) return position?.after ?? null;
  return { verified: last.facts.verified, place: [...last.place], token: last.token };
}

const OF_PRICES = 'Tokens beyond this limit keep their row and have null prices.';

function queryOf(parameters: ApiDependencies['parameters']) {
  return querySchema(
    {
      chain: parameters.chain,
      to_block: parameters.toBlock.openapi({
        description:
          'Returns balances after this block. Blocks below the indexed range need an archive node. Default: the newest block.',
      }),
      exclude_spam: booleanParameter({ default: false, description: 'Omits tokens that are possible spam.' }),
      exclude_unverified_contracts: booleanParameter({
        default: false,
        description: 'Returns only the native token and tokens of imported lists.',
      }),
      exclude_native: booleanParameter({ default: false, description: 'Omits the native token.' }),
      ...priceLimits({
        inactivity: `Maximum number of days since the pools of a token have moved. ${OF_PRICES}`,
        depth: `US dollars that each side of a pool must hold. Default: 500. ${OF_PRICES}`,
      }),
      limit: parameters.limit,
      cursor: parameters.cursor,
    },
    { token_addresses: parameters.addresses },
  );
}

/** After a block; null: newest. Base units; 0 and not known if no node answered in time. */
export async function nativeOf(
  options: NativeBalancesOptions,
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  chain: Chain,
  { wallet, toBlock }: { readonly wallet: Address; readonly toBlock: number | null },
): Promise<{ readonly balance: bigint; readonly isKnown: boolean }> {
  const read = getNativeBalances(options, database, chain, { addresses: [wallet], toBlock });
  const missing = { message: 'The native balance is omitted', chain: chain.key, wallet };
  const native = await unlessUnavailable(logger, missing, read);
  return { balance: BigInt(native?.balances[0] ?? 0), isKnown: native !== null };
}
