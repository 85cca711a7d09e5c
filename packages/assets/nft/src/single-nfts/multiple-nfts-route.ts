import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { addressParameter, BODY_LIST_MAX, refuseBody, requireIndexes, tokenIdParameter } from '@chainstead/http';
import { indexedHeaders, type SubjectCoverage } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { coveredOfAll, getCollectionCoverage } from '../collections/collection-coverage.ts';
import { type Collection, getCollection } from '../collections/get-collection.ts';
import type { MetadataRequests, Requester } from '../collections/request-metadata.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { ownedNftView } from '../records/record-response.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { requestUnreadCollections } from '../wallet-collections/request-unread-collections.ts';
import { defineRoute, readTokens, requestTokens } from './read-requested-tokens.ts';

const requestedTokens = z.array(z.object({ token_address: addressParameter(), token_id: tokenIdParameter() }));

/**
 * Documents beyond the budget of node calls are left to later requests.
 * docs/api/nfts.md#multiple-nfts
 */
export const multipleNftsRoute = defineRoute({
  path: '/api/v2.2/nft/getMultipleNFTs',
  operationId: 'getMultipleNFTs',
  tag: 'NFTs',
  summary: 'Get metadata of multiple NFTs',
  description:
    'Up to 25 NFTs in request order. null for an NFT without transfers in the indexed blocks. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks of their collections.',
  query: ['chain'],
  body: z.object({
    tokens: requestedTokens.min(1).max(BODY_LIST_MAX),
    normalizeMetadata: z.boolean().optional(),
    media_items: z.boolean().optional(),
  }),
  refuseInvalid: refuseBody('tokens'),
  datasets: [nftTransfers.name],
  response: { description: 'The NFTs', schema: z.array(ownedNftView.schema.nullable()) },
  errors: [413],
  async answer({ database, services, body, chain, requester: key, c }) {
    const { requests, records, holders } = services;
    const requester = requests.requesterOf(key);
    requireIndexes(await holders.missingIndexes());
    const tokens = body.tokens.map(({ token_address: address, token_id: tokenId }) => ({ address, tokenId }));
    const contracts = [...new Set(tokens.map(({ address }) => address))];
    const coverage = await getCollectionCoverage(database, chain, contracts);
    const held = await holders.find(chain, tokens, coverage);
    const keys = held.filter((key) => key !== null);
    await readWithinBudget({ database, requests }, { chain, requester, contracts, held, coverage });
    const { rows, ...shared } = await records.read(chain, keys, { includePrices: false });
    const { normalizeMetadata = false, media_items = false } = body;
    const wishes = { format: 'decimal', normalizeMetadata, media_items } as const;
    const shown = rows.map((record) => ownedNftView.show(record, shared, wishes, 'all')).values();
    const nfts = held.map((key) => (key === null ? null : (shown.next().value ?? null)));
    return c.json(nfts, 200, indexedHeaders(coveredOfAll(coverage)));
  },
});

/** Per request, with those of the worker role. */
const NODE_CALLS_MAX = 60;

/** At most, if the chain has no Multicall3. */
const CALLS = {
  owner: 1,
  amounts: 1,
  erc721Uri: 1,
  otherUri: 2,
  collection: 18,
  history: 3,
};

interface TokensToRead {
  readonly chain: Chain;
  readonly requester: Requester;
  readonly contracts: readonly Address[];
  /** In request order; null without a known owner. */
  readonly held: readonly (RecordKey | null)[];
  readonly coverage: ReadonlyMap<Address, SubjectCoverage>;
}

async function readWithinBudget(
  { database, requests }: { readonly database: Database; readonly requests: MetadataRequests },
  { chain, requester, contracts, held, coverage }: TokensToRead,
): Promise<void> {
  const collections = new Map<Address, Collection>();
  for (const address of contracts) collections.set(address, await getCollection(database, chain.id, address));
  const typeOf = (address: Address) => collections.get(address)?.contractType ?? null;
  const isWhole = (address: Address): boolean => coverage.get(address)?.isCovered ?? false;
  const unmoved = held.filter((key) => key === null || key.blockNumber === null);
  const unreported = contracts.filter((address) => typeOf(address) === 'ERC1155' && !isWhole(address));
  let left = NODE_CALLS_MAX - CALLS.owner * unmoved.length - CALLS.amounts * unreported.length;
  const take = (calls: number): boolean => {
    if (calls > left) return false;
    left -= calls;
    return true;
  };
  const keys = held.filter((key) => key !== null);
  const readings = await readTokens(database, chain, keys);
  const affordable = keys.filter(({ address }, index) => {
    const isRequested = (readings[index]?.status ?? null) !== null;
    return isRequested || take(typeOf(address) === 'ERC721' ? CALLS.erc721Uri : CALLS.otherUri);
  });
  await requestTokens({ database, requests }, { chain, requester }, affordable);
  const unread = [];
  for (const [address, { isNft, possibleSpam, status }] of collections) {
    if (isNft && (isWhole(address) || take(CALLS.history))) requests.announce(chain, address, requester);
    if (status === null && !possibleSpam && take(CALLS.collection))
      unread.push({ address, isUnread: true, possibleSpam });
  }
  await requestUnreadCollections(database, chain, unread);
}
