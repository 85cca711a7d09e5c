import type { Chain } from '@chainstead/chains';
import { type Address, errorText, ZERO_ADDRESS } from '@chainstead/core';
import { showIndexed } from '@chainstead/data-api';
import {
  type ApiDependencies,
  booleanParameter,
  defineListRoute,
  type Page,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { getNativeBalances, type NativeBalancesOptions, StateUnavailableError } from '@chainstead/node-reads';
import { z } from '@hono/zod-openapi';
import { erc20Transfers } from '../transfers/dataset.ts';
import { type ResolvedBalances, resolveWalletBalances } from './resolve-wallet-balances.ts';
import type { WalletBalancesOptions } from './wallet-balances-route.ts';
import type { SettledOrder } from './wallet-balances-statement.ts';
import { NATIVE_ADDRESS, showNativeToken, showWalletToken, walletTokensSchema } from './wallet-tokens-response.ts';

interface WalletTokensOptions extends WalletBalancesOptions {
  /** Maximum age of a native balance (`NATIVE_BALANCE_MAX_AGE_MS`). Milliseconds. */
  readonly nativeMaxAgeMs: number;
}

/**
 * `GET /api/v2.2/wallets/{address}/tokens`: token and native balances of a wallet, paged
 * (docs/api/wallets.md#wallet-tokens). All pages of a run show the newest block of its first page.
 */
export function createWalletTokensRoute(options: WalletTokensOptions): RouteModule {
  const { nodeReads, projections, onDemandBackfill, waitMs, liveMaxAgeMs, nativeMaxAgeMs } = options;
  return (app, dependencies) => {
    const { database, logger, parameters } = dependencies;
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/tokens',
      operationId: 'getWalletTokenBalancesPrice',
      tags: ['Wallets'],
      summary: 'List token balances and the native balance of a wallet',
      description:
        'The native token, then tokens of imported lists, then other tokens, each by last transfer. Prices are null. A balance is the value returned by the contract plus later transfers; tokens without such a value are omitted.',
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
      }),
      position: positionSchema,
      firstPage: 0,
      read: async ({ chain, requester, ...page }) => {
        const { filter } = page;
        const wallet = filter.address as Address;
        const native = showsNative(page)
          ? await nativeOf({ nodeReads, waitMs, maxAgeMs: nativeMaxAgeMs }, dependencies, chain, {
              wallet,
              toBlock: filter.to_block,
            })
          : { rows: [], isKnown: true };
        const reported = await resolveWalletBalances({ database, nodeReads, projections, logger, waitMs }, chain, {
          wallet,
          tokens: namedTokens(page),
          excludeSpam: filter.exclude_spam,
          verifiedOnly: filter.exclude_unverified_contracts,
          toBlock: page.upperBound ?? filter.to_block,
          limit: page.limit - native.rows.length,
          order: orderOf(chain, page),
          liveMaxAgeMs,
        });
        if (!reported.isCovered && wallet !== ZERO_ADDRESS)
          await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
        const block = blockOf(page, reported);
        const next = reported.hasNext ? { position: { after: placeAfter(page, reported) }, upperBound: block } : null;
        return { ...reported, native, block, next };
      },
      present: ({ native, block, indexed, isComplete, unread, balances }, { page, page_size, cursor }) => ({
        ...{ page, page_size, block_number: block, cursor },
        indexed: showIndexed({ ...indexed, complete: isComplete && native.isKnown }),
        unread_tokens: [...(native.isKnown ? [] : [NATIVE_ADDRESS]), ...unread],
        result: [...native.rows, ...balances.map(showWalletToken)],
      }),
    });
  };
}

/** The filter that a cursor is bound to. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  to_block: z.int().nullable().default(null),
  token_addresses: z.array(z.string()).readonly().nullable().default(null),
  exclude_spam: z.boolean().default(false),
  exclude_unverified_contracts: z.boolean().default(false),
  exclude_native: z.boolean().default(false),
});

/** The last token of the previous page; null if that page contained only the native token. */
const positionSchema = z.object({
  after: z.object({ verified: z.boolean(), place: z.array(z.int()).length(3), token: z.string() }).nullable(),
});

type TokensPage = Page<z.infer<typeof filterSchema>, z.infer<typeof positionSchema>>;

/** First on the first page, unless tokens are named without it. */
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
    logger.debug({ chain: chain.key, wallet, error: errorText(error) }, 'The native balance is omitted');
    return { rows: [], isKnown: false };
  }
}

/** Returns the block of the whole run. */
function blockOf({ upperBound, filter }: TokensPage, { indexed }: ResolvedBalances): number {
  if (upperBound !== null) return upperBound;
  const newest = indexed.toBlock ?? 0;
  return filter.to_block === null ? newest : Math.min(filter.to_block, newest);
}

function namedTokens({ filter }: TokensPage): readonly Address[] | null {
  const named = filter.token_addresses as readonly Address[] | null;
  return named?.filter((token) => token !== NATIVE_ADDRESS) ?? null;
}

/** Returns an order by data that can no longer be reorganized. */
function orderOf({ reorgDepthMax }: Chain, { position, upperBound }: TokensPage): SettledOrder {
  const after = position?.after ?? null;
  return {
    pinned: upperBound,
    depth: reorgDepthMax,
    after: after === null ? null : { ...after, token: after.token as Address },
  };
}

/** Returns the position after the last examined token, shown or not. */
function placeAfter({ position }: TokensPage, { last }: ResolvedBalances): z.infer<typeof positionSchema>['after'] {
  if (last === null) return position?.after ?? null;
  return { verified: last.facts.verified, place: [...last.place], token: last.token };
}

function numberParameter(description: string) {
  return textParameter('a number from 0', (text) => (/^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : undefined))
    .optional()
    .openapi({ type: 'number', minimum: 0, description });
}

const OF_PRICES =
  'Tokens beyond this limit keep their row and have null prices. No effect while no prices are available.';

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
      max_token_inactivity: numberParameter(`Maximum number of days since the last swap. ${OF_PRICES}`),
      min_pair_side_liquidity_usd: numberParameter(`Minimum liquidity. ${OF_PRICES}`),
      limit: parameters.limit,
      cursor: parameters.cursor,
    },
    { token_addresses: parameters.addresses },
  );
}
