import { showIndexed } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, errorText, ZERO_ADDRESS } from '@chainstead/core';
import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChain,
  type Page,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { getNativeBalances, type NativeBalancesOptions, StateUnavailableError } from '@chainstead/state';
import { createRoute, z } from '@hono/zod-openapi';
import { erc20Transfers } from '../transfers/dataset.ts';
import { type ToldBalances, tellWalletBalances } from './tell-wallet-balances.ts';
import type { WalletBalancesOptions } from './wallet-balances-route.ts';
import type { SettledOrder } from './wallet-balances-statement.ts';
import { NATIVE_ADDRESS, showNativeToken, showWalletToken, walletTokensSchema } from './wallet-tokens-response.ts';

interface WalletTokensOptions extends WalletBalancesOptions {
  /** So old a reading of the chain's own coin may be (`NATIVE_BALANCE_MAX_AGE_MS`). Milliseconds. */
  readonly nativeMaxAgeMs: number;
}

/**
 * `GET /api/v2.2/wallets/{address}/tokens`: what a wallet holds of tokens and of the chain's own coin, by pages
 * (docs/provider-contract.md#wallet-tokens). All pages of a run are of the block that was the newest at its first.
 */
export function createWalletTokensRoute(options: WalletTokensOptions): RouteModule {
  const { questions, kept, walletHistory, waitMs, liveMaxAgeMs, nativeMaxAgeMs } = options;
  return (app, dependencies) => {
    const { chains, database, limits, logger, paging } = dependencies;
    const runs = paging.forRoute({
      route: 'wallet-tokens',
      filter: filterSchema,
      position: positionSchema,
      defaults: DEFAULTS,
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const { cursor, limit } = query;
      const { address } = c.req.valid('param');
      const page = runs.open({ cursor, limit, order: undefined, filter: { ...filterOf(query), address } });
      const { filter } = page;
      const chain = indexedChain(chains, filter.chain, erc20Transfers.name);
      const wallet = filter.address as Address;
      const native = showsNative(page)
        ? await nativeOf({ questions, waitMs, maxAgeMs: nativeMaxAgeMs }, dependencies, chain, {
            wallet,
            toBlock: filter.to_block,
          })
        : { rows: [], isKnown: true };
      const told = await tellWalletBalances({ database, questions, kept, logger, waitMs }, chain, {
        wallet,
        tokens: namedTokens(page),
        excludeSpam: filter.exclude_spam,
        verifiedOnly: filter.exclude_unverified_contracts,
        toBlock: page.upperBound ?? filter.to_block,
        limit: page.limit - native.rows.length,
        order: orderOf(chain, page),
        liveMaxAgeMs,
      });
      if (!told.isCovered && wallet !== ZERO_ADDRESS)
        await walletHistory.requestWallet({ database, logger }, chain, wallet, c.get('principal')?.id ?? 'open');
      const block = blockOf(page, told);
      return c.json(
        {
          page: page.page,
          page_size: page.limit,
          block_number: block,
          cursor: told.hasNext
            ? runs.next(page, { position: { after: placeAfter(page, told) }, upperBound: block })
            : null,
          indexed: showIndexed({ ...told.indexed, complete: told.isComplete && native.isKnown }),
          result: [...native.rows, ...told.balances.map(showWalletToken)],
        },
        200,
      );
    });
  };
}

const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string(),
  to_block: z.int().nullable(),
  token_addresses: z.array(z.string()).readonly().nullable(),
  exclude_spam: z.boolean(),
  exclude_unverified_contracts: z.boolean(),
  exclude_native: z.boolean(),
});

const DEFAULTS: z.infer<typeof filterSchema> = {
  address: '',
  chain: 'eth',
  to_block: null,
  token_addresses: null,
  exclude_spam: false,
  exclude_unverified_contracts: false,
  exclude_native: false,
};

/** The last token of the page before; null where that had none, but the coin alone. */
const positionSchema = z.object({
  after: z.object({ verified: z.boolean(), place: z.array(z.int()).length(3), token: z.string() }).nullable(),
});

type TokensPage = Page<z.infer<typeof filterSchema>, z.infer<typeof positionSchema>>;

type Query = z.infer<ReturnType<typeof routeOf>['request']['query']>;

function filterOf(query: Query) {
  return {
    chain: query.chain?.key,
    to_block: query.to_block,
    token_addresses: query.token_addresses,
    exclude_spam: query.exclude_spam,
    exclude_unverified_contracts: query.exclude_unverified_contracts,
    exclude_native: query.exclude_native,
  };
}

/** First on the first page, unless tokens are named and it is not among them. */
function showsNative({ position, filter }: TokensPage): boolean {
  const { address, exclude_native: isExcluded, token_addresses: named } = filter;
  return position === null && !isExcluded && address !== ZERO_ADDRESS && (named?.includes(NATIVE_ADDRESS) ?? true);
}

async function nativeOf(
  options: NativeBalancesOptions,
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  chain: Chain,
  { wallet, toBlock }: { readonly wallet: Address; readonly toBlock: number | null },
) {
  try {
    const { balances } = await getNativeBalances(options, database, chain, { addresses: [wallet], toBlock });
    const [wei = '0'] = balances;
    return { rows: wei === '0' ? [] : [showNativeToken(chain, wei)], isKnown: true };
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug({ chain: chain.key, wallet, error: errorText(error) }, 'The balance of the own coin is left out');
    return { rows: [], isKnown: false };
  }
}

/** The block that the whole run is of. */
function blockOf({ upperBound, filter }: TokensPage, { indexed }: ToldBalances): number {
  if (upperBound !== null) return upperBound;
  const newest = indexed.toBlock ?? 0;
  return filter.to_block === null ? newest : Math.min(filter.to_block, newest);
}

function namedTokens({ filter }: TokensPage): readonly Address[] | null {
  const named = filter.token_addresses as readonly Address[] | null;
  return named?.filter((token) => token !== NATIVE_ADDRESS) ?? null;
}

/** By what can't be reorganised any more. */
function orderOf({ reorgDepthMax }: Chain, { position, upperBound }: TokensPage): SettledOrder {
  const after = position?.after ?? null;
  return {
    pinned: upperBound,
    depth: reorgDepthMax,
    after: after === null ? null : { ...after, token: after.token as Address },
  };
}

/** Behind the last token that was looked at, shown or not. */
function placeAfter({ position }: TokensPage, { last }: ToldBalances): z.infer<typeof positionSchema>['after'] {
  if (last === null) return position?.after ?? null;
  return { verified: last.facts.verified, place: [...last.place], token: last.token };
}

function numberParameter(description: string) {
  return textParameter('a number from 0', (text) => (/^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined))
    .optional()
    .openapi({ type: 'number', minimum: 0, description });
}

const OF_PRICES = 'A token beyond it keeps its row and has null prices: while no prices are known, nothing changes.';

function routeOf({ parameters }: ApiDependencies) {
  const query = querySchema(
    {
      chain: parameters.chain,
      to_block: parameters.toBlock.openapi({
        description:
          'Balances after this block; below what is indexed it takes an archive node. Default: the newest one.',
      }),
      exclude_spam: booleanParameter({ default: false, description: 'Leaves tokens out that are possible spam.' }),
      exclude_unverified_contracts: booleanParameter({
        default: false,
        description: "Keeps the chain's own coin, and tokens of imported lists.",
      }),
      exclude_native: booleanParameter({ default: false, description: "Leaves the chain's own coin out." }),
      max_token_inactivity: numberParameter(`Days without a swap at most. ${OF_PRICES}`),
      min_pair_side_liquidity_usd: numberParameter(`Liquidity at least. ${OF_PRICES}`),
      limit: parameters.limit,
      cursor: parameters.cursor,
    },
    { token_addresses: parameters.addresses },
  );
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/tokens',
    operationId: 'getWalletTokenBalancesPrice',
    tags: ['Wallets'],
    summary: "A wallet's tokens and native balance",
    description:
      "The chain's own coin, then tokens of imported lists, then others; of both those that moved last first. Prices are null. A balance is what the contract said and what moved since, or it is not shown.",
    request: { params: z.object({ address: parameters.address }), query },
    responses: {
      200: { description: 'A page of tokens', content: { 'application/json': { schema: walletTokensSchema } } },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
