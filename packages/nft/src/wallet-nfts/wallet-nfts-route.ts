import { readKept, showIndexed, showSyncState, syncStateOf, type WalletHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import {
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChain,
  type Page,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import type { KeptSubjects } from '@chainstead/sync';
import { createRoute, z } from '@hono/zod-openapi';
import { changeRunSchema } from '../records/change-pages.ts';
import { recordId } from '../records/nft-record.ts';
import { createRecordPages, type RecordsOfPage, type SendersOf } from '../records/record-pages.ts';
import { includePricesParameter, recordParameters } from '../records/record-parameters.ts';
import { showOwnedNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { type HeldNow, NOBODY_ASKED, withAmountsNow } from '../token-state/held-now.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { getWalletNfts, placeAfter, type WalletNft, type WalletNftsPage } from './get-wallet-nfts.ts';
import { walletNftsSchema } from './wallet-nfts-response.ts';
import type { WalletNftsPlace } from './wallet-nfts-statement.ts';

export interface WalletNftsOptions {
  readonly kept: KeptSubjects;
  /** How long a request waits until it is counted what the wallet holds. Milliseconds. */
  readonly waitMs: number;
  readonly walletHistory: Pick<WalletHistory, 'requestWallet'>;
  /** Default: nobody's are known. */
  readonly sendersOf?: SendersOf;
  /** What ERC-1155 is held while blocks of a wallet are missing or not counted yet. Default: no contract is asked, and it is left out. */
  readonly heldNow?: HeldNow;
}

/**
 * `GET /api/v2.2/{address}/nft`: the tokens that a wallet holds, newest change first (docs/provider-contract.md#wallet-nfts). What it holds
 * is counted at the first request and kept from then on; missing blocks of its history, and metadata, are read because of it.
 */
export function createWalletNftsRoute(options: WalletNftsOptions): RouteModule {
  return (app, dependencies) => {
    const { limits, paging } = dependencies;
    const find = createFinder(dependencies, options);
    const runs = paging.forRoute({
      route: 'wallet-nfts',
      filter: filterSchema,
      position: positionSchema,
      defaults: DEFAULTS,
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const { chain, cursor, limit, ...query } = c.req.valid('query');
      const page = runs.open({
        cursor,
        limit,
        order: undefined,
        filter: { ...NOTHING_ASKED, ...query, address: c.req.valid('param').address, chain: chain?.key },
      });
      const { filter } = page;
      const found = await find(page, c.get('principal')?.id ?? 'open');
      const { records, lastSales, minters, next } = found;
      return c.json(
        {
          ...showSyncState(found.state),
          page: page.page + 1,
          page_size: page.limit,
          cursor: next === null ? null : runs.next(page, { position: positionOf(next), upperBound: next.upperBound }),
          indexed: showIndexed(found.indexed),
          result: records.map((record) =>
            showOwnedNft(record, {
              format: filter.format,
              normalizeMetadata: filter.normalizeMetadata,
              mediaItems: filter.media_items,
              collection: 'pictures',
              lastSales,
              minters,
            }),
          ),
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
  token_addresses: z.array(z.string()).readonly(),
  exclude_spam: z.boolean(),
  format: z.enum(['decimal', 'hex']),
  normalizeMetadata: z.boolean(),
  media_items: z.boolean(),
  include_prices: z.boolean(),
});
type Filter = z.infer<typeof filterSchema>;

const DEFAULTS: Filter = {
  address: '',
  chain: 'eth',
  token_addresses: [],
  exclude_spam: false,
  format: 'decimal',
  normalizeMetadata: true,
  media_items: false,
  include_prices: false,
};

/** Parameters that a request leaves out are not among what was parsed. */
const NOTHING_ASKED = {
  token_addresses: undefined,
  exclude_spam: undefined,
  format: undefined,
  normalizeMetadata: undefined,
  media_items: undefined,
  include_prices: undefined,
};

const positionSchema = z.object({ block: z.int(), address: z.string(), id: z.string(), run: changeRunSchema });
type Position = z.infer<typeof positionSchema>;

/** A page's tokens, and where the next page begins; null on the last. */
interface FoundPage extends RecordsOfPage, Pick<WalletNftsPage, 'indexed'> {
  readonly state: ReturnType<typeof syncStateOf>;
  readonly next: WalletNftsPlace | null;
}

function createFinder(
  { chains, database, logger, reads }: ApiDependencies,
  { kept, walletHistory, waitMs, sendersOf, heldNow = NOBODY_ASKED }: WalletNftsOptions,
): (page: Page<Filter, Position>, requestedBy: string) => Promise<FoundPage> {
  const pages = createRecordPages(reads, sendersOf);
  return async (page, requestedBy) => {
    const { filter } = page;
    const chain = indexedChain(chains, filter.chain, nftTransfers.name);
    const wallet = parseAddress(filter.address);
    await kept.keep(chain, { dataset: nftTransfers, state: nftWalletTokens }, wallet, waitMs);
    const after = placeOf(page);
    const query = {
      wallet,
      limit: page.limit,
      after,
      excludeSpam: filter.exclude_spam,
      contracts: filter.token_addresses.map(parseAddress),
    };
    const found = await readKept({ reads, database }, (from) => getWalletNfts(from, chain, query));
    const tokens = found.indexed.complete ? found.tokens : await withSumsNow(heldNow, chain, found.tokens);
    const read = await pages.read(chain, tokens, { includePrices: filter.include_prices });
    const answer = found.isCovered
      ? null
      : await walletHistory.requestWallet({ database, logger }, chain, wallet, requestedBy);
    await requestUnreadTokens(database, chain, read.records);
    return {
      ...read,
      indexed: found.indexed,
      state: syncStateOf(chain, 'wallet', found, answer),
      next: placeAfter(chain, found, after),
    };
  };
}

/** What transfers don't add up to yet, as its contracts tell it; what they don't is left out. */
async function withSumsNow(
  heldNow: HeldNow,
  chain: Chain,
  tokens: readonly WalletNft[],
): Promise<readonly WalletNft[]> {
  const told = await withAmountsNow(
    heldNow,
    chain,
    tokens.filter(({ isSum }) => isSum),
  );
  const byId = new Map(told.map((token) => [recordId(token), token]));
  return tokens.flatMap((token) => (token.isSum ? (byId.get(recordId(token)) ?? []) : [token]));
}

function placeOf({ position, upperBound }: Page<Filter, Position>): WalletNftsPlace | null {
  if (position === null) return null;
  const { block, address, id, run } = position;
  return { block, address: address as Address, tokenId: id, run, upperBound: upperBound ?? 0 };
}

function positionOf({ block, address, tokenId: id, run }: WalletNftsPlace): Position {
  return { block, address, id, run };
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}/nft',
    operationId: 'getWalletNFTs',
    tags: ['NFT'],
    summary: 'The NFTs of a wallet',
    description:
      "Tokens of which a wallet holds something, newest change first. While blocks are missing of the wallet's history the status is SYNCING; the first request has them read, as it has metadata that nobody has asked for yet.",
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema(
        {
          chain: parameters.chain,
          limit: parameters.limit,
          cursor: parameters.cursor,
          exclude_spam: booleanParameter({
            default: false,
            description: 'Leaves tokens of collections out that are possible spam.',
          }),
          ...recordParameters({ normalizeMetadata: true }),
          include_prices: includePricesParameter(),
        },
        { token_addresses: parameters.addresses },
      ),
    },
    responses: {
      200: { description: 'A page of tokens', content: { 'application/json': { schema: walletNftsSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
