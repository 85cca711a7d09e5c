import type { Chain } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { type RouteModule, routesFor, withServices } from '@chainstead/http';
import { readBuilt, syncFields, syncStateOf } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import { changeRunSchema } from '../records/change-pages.ts';
import { recordId } from '../records/nft-record.ts';
import { createRecordPages, type RecordPages, type SendersOf } from '../records/record-pages.ts';
import { INCLUDE_PRICES, recordParameters } from '../records/record-parameters.ts';
import { ownedNftView } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { includeParameter } from '../routes.ts';
import { type HeldNow, NOBODY_REQUESTED, withAmountsNow } from '../token-state/held-readers.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { getWalletNfts, placeAfter, type WalletNft } from './wallet-nfts-statement.ts';

export interface WalletNftsOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  readonly sendersOf?: SendersOf;
  /** For ERC-1155 balances while blocks are missing. @default they are left out */
  readonly heldNow?: HeldNow;
}

export function createWalletNftsRoute(options: WalletNftsOptions): RouteModule {
  return (app, api) => {
    const records = createRecordPages(api.reads, options.sendersOf);
    withServices({ ...options, records }, [walletNftsRoute])(app, api);
  };
}

/** docs/api/nfts.md#wallet-nfts */
const walletNftsRoute = routesFor<WalletNftsOptions & { readonly records: RecordPages }>().defineListRoute({
  path: '/api/v2.2/{address}/nft',
  operationId: 'getWalletNFTs',
  tag: 'Wallets',
  summary: 'List NFTs by wallet',
  description:
    'NFTs held by a wallet, newest change first. The status is SYNCING while blocks of the wallet are missing; the first request starts their backfill and the read of unknown metadata.',
  params: ['address'],
  query: [
    'chain',
    'limit',
    'cursor',
    { exclude_spam: includeParameter('Omits NFTs of collections that are possible spam.') },
    recordParameters({ normalizeMetadata: true }),
    INCLUDE_PRICES,
    { token_addresses: 'addresses' },
  ],
  name: 'WalletNfts',
  response: 'A page of NFTs',
  datasets: [nftTransfers.name],
  position: z.object({
    block: z.int(),
    address: z.string().transform(parseAddress),
    tokenId: z.string(),
    run: changeRunSchema,
    upperBound: z.int(),
  }),
  firstPage: 1,
  async read({ services, chain, address: wallet, requester, ...given }) {
    const { projections, onDemandBackfill, records, heldNow = NOBODY_REQUESTED } = services;
    const { database, logger, exclude_spam: excludeSpam, token_addresses: contracts = [] } = given;
    const { limit, after } = given.query;
    await projections.keep(chain, { dataset: nftTransfers, state: nftWalletTokens }, wallet);
    const query = { wallet, limit, after, excludeSpam, contracts };
    const page = await readBuilt(given, (from) => getWalletNfts(from, chain, query));
    const tokens = page.indexed.complete ? page.tokens : await withSumsNow(heldNow, chain, page.tokens);
    const shown = await records.read(chain, tokens, { includePrices: given.include_prices });
    const backfill = page.isCovered
      ? null
      : await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
    await requestUnreadTokens(database, chain, shown.rows);
    const last = placeAfter(chain, page, after);
    return {
      ...shown,
      indexed: page.indexed,
      state: syncStateOf(chain, 'wallet', page, backfill),
      next: last && { position: last, upperBound: last.upperBound },
    };
  },
  view: ownedNftView,
  row: (record, page, given) => [record, page, given],
  fields: (standard) => ({
    ...syncFields(
      'SYNCING while blocks of the wallet are missing. The list may then lack NFTs or contain too many',
    ),
    ...standard,
  }),
});

/** Incomplete sums are replaced with balances; tokens without a result are left out. */
async function withSumsNow(
  heldNow: HeldNow,
  chain: Chain,
  tokens: readonly WalletNft[],
): Promise<readonly WalletNft[]> {
  const reported = await withAmountsNow(
    heldNow,
    chain,
    tokens.filter(({ isSum }) => isSum),
  );
  const byId = new Map(reported.map((token) => [recordId(token), token]));
  return tokens.flatMap((token) => (token.isSum ? (byId.get(recordId(token)) ?? []) : [token]));
}
