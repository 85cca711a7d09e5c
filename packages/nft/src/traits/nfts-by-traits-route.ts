import { showIndexed, showSyncState } from '@chainstead/answers';
import { parseAddress } from '@chainstead/core';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import type { RecordKey } from '../records/nft-record.ts';
import { createRecordPages } from '../records/record-pages.ts';
import { recordParameters } from '../records/record-parameters.ts';
import { showNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { traitName } from '../records/trait.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { askedTraits, askedTraitsSchema } from './asked-trait-list.ts';
import { type AskedTraitsOptions, createAskedTraits, type FoundTraits, NOT_READY } from './asked-traits.ts';
import { NOT_READY_RESPONSE, nftsByTraitsSchema } from './traits-response.ts';
import { type TraitTokenRow, tokensByTraitsStatement } from './traits-statement.ts';

/** `POST /api/v2.2/nft/{address}/nfts-by-traits`: the NFTs of a collection that have all of some traits (docs/provider-contract.md#traits). */
export function createNftsByTraitsRoute(options: AskedTraitsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, limits, paging } = dependencies;
    const traits = createAskedTraits(dependencies, options);
    const records = createRecordPages(database, options.sendersOf);
    const runs = paging.forRoute({
      route: 'collection-nfts-by-traits',
      filter: filterSchema,
      position: z.object({ hash: z.string().regex(/^[0-9a-f]{32}$/) }),
      defaults: DEFAULTS,
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const { cursor, limit, chain: named, format: wanted, ...flags } = c.req.valid('query');
      const asked = askedTraits(c.req.valid('json'));
      const filter = {
        address: c.req.valid('param').address,
        chain: named?.key,
        traits: asked.map(traitName),
        format: wanted,
        normalizeMetadata: flags.normalizeMetadata,
        media_items: flags.media_items,
      };
      const page = runs.open({ cursor, limit, order: undefined, filter });
      const { format, normalizeMetadata, media_items: mediaItems } = page.filter;
      const chain = indexedChain(chains, page.filter.chain, nftTransfers.name);
      const contract = parseAddress(page.filter.address);
      const after = page.position?.hash ?? null;
      const statement = tokensByTraitsStatement(chain, { contract, traits: asked, limit: page.limit, after });
      const question = { chain, contract, requester: traits.requesterOf(c) };
      const found = await traits.read<TraitTokenRow>(question, statement);
      if (found === null) return c.json(NOT_READY, 202);
      const keys = found.rows.slice(0, page.limit).map((row) => keyOf(row, contract, found));
      const { records: tokens, ...shared } = await records.read(chain, keys, { includePrices: false });
      await requestUnreadTokens(database, chain, tokens);
      const last = found.rows.length > page.limit ? found.rows[page.limit - 1] : undefined;
      const upperBound = found.indexed.toBlock ?? 0;
      return c.json(
        {
          ...showSyncState(found.state),
          page: page.page,
          page_size: page.limit,
          cursor: last === undefined ? null : runs.next(page, { position: { hash: last.token_hash }, upperBound }),
          indexed: showIndexed(found.indexed),
          result: tokens.map((token) =>
            showNft(token, { ...shared, format, normalizeMetadata, mediaItems, collection: 'pictures' }),
          ),
        },
        200,
      );
    });
  };
}

/** As in lists of a collection: an ERC-1155 belongs to nobody and has what all hold together. */
function keyOf(row: TraitTokenRow, address: RecordKey['address'], found: FoundTraits<TraitTokenRow>): RecordKey {
  const isSingle = found.collection.contractType !== 'ERC1155';
  return {
    address,
    tokenId: row.token_id,
    owner: isSingle ? row.receiver : null,
    amount: isSingle ? '1' : found.state.indexed.complete ? row.supply : null,
    blockNumber: changeBlockOf(row.last_block),
  };
}

const PAGE_SIZE_DEFAULT = 100;

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string(),
  traits: z.array(z.string()),
  format: z.enum(['decimal', 'hex']),
  normalizeMetadata: z.boolean(),
  media_items: z.boolean(),
});

const DEFAULTS: z.infer<typeof filterSchema> = {
  address: '',
  chain: 'eth',
  traits: [],
  format: 'decimal',
  normalizeMetadata: false,
  media_items: false,
};

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'post',
    path: '/api/v2.2/nft/{address}/nfts-by-traits',
    operationId: 'getNFTByContractTraits',
    tags: ['NFT'],
    summary: 'The NFTs of a collection by traits',
    description:
      'NFTs of a collection that have all of the traits that the body names, highest token hash first. The first request has the documents read: 202 until they are. Of collections of up to 50,000 NFTs.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        ...recordParameters({ normalizeMetadata: false }),
        limit: parameters.limit,
        cursor: parameters.cursor,
      }),
      body: { required: true, content: { 'application/json': { schema: askedTraitsSchema } } },
    },
    responses: {
      200: { description: 'A page of NFTs', content: { 'application/json': { schema: nftsByTraitsSchema } } },
      ...NOT_READY_RESPONSE,
      ...errorResponses(400, 401, 404, 413, 429, 500, 503),
    },
  });
}
