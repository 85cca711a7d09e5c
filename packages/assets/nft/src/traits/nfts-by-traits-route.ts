import { parseAddress } from '@chainstead/core';
import { defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { showIndexed, showSyncState } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { RecordKey } from '../records/nft-record.ts';
import { createRecordPages } from '../records/record-pages.ts';
import { recordParameters } from '../records/record-parameters.ts';
import { showNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { type Trait, traitAsStored, traitName } from '../records/trait.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { createRequestedTraits, type FoundTraits, type RequestedTraitsOptions } from './requested-traits.ts';
import { nftsByTraitsSchema, TRAITS_PENDING } from './traits-page-route.ts';
import { type NftWithTraits, tokensByTraitsStatement } from './traits-statement.ts';

/** docs/api/nfts.md#traits */
export function createNftsByTraitsRoute(options: RequestedTraitsOptions): RouteModule {
  return (app, dependencies) => {
    const { database, parameters } = dependencies;
    const traits = createRequestedTraits(dependencies, options);
    const records = createRecordPages(database, options.sendersOf);
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/nft/{address}/nfts-by-traits',
      operationId: 'getNFTByContractTraits',
      tags: ['NFTs'],
      summary: 'List NFTs of a collection by traits',
      description:
        'NFTs of a collection with all requested traits, highest token hash first. The first request starts reading the metadata: returns 202 until it is complete. Limited to collections of up to 50,000 NFTs.',
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        ...recordParameters({ normalizeMetadata: false }),
        limit: parameters.limit,
        cursor: parameters.cursor,
      }),
      body: requestedTraitsSchema,
      response: { description: 'A page of NFTs', schema: nftsByTraitsSchema },
      pending: TRAITS_PENDING,
      errors: [404, 413],
      datasets: [nftTransfers.name],
      cursorName: 'collection-nfts-by-traits',
      filter: filterSchema,
      filterOf: ({ address, chain, format, normalizeMetadata, media_items, body }) => ({
        ...{ address, chain: chain?.key, traits: requestedTraits(body).map(traitName) },
        ...{ format, normalizeMetadata, media_items },
      }),
      position: z.object({ hash: z.string().regex(/^[0-9a-f]{32}$/) }),
      firstPage: 0,
      read: async ({ chain, filter, given, limit, position, requester }) => {
        const contract = parseAddress(filter.address);
        const query = { contract, traits: requestedTraits(given.body), limit, after: position?.hash ?? null };
        const statement = tokensByTraitsStatement(chain, query);
        const nfts = await traits.read<NftWithTraits>({ chain, contract, requester }, statement);
        if (nfts === null) return null;
        const keys = nfts.rows.slice(0, limit).map((row) => keyOf(row, contract, nfts));
        const { records: tokens, ...shared } = await records.read(chain, keys, { includePrices: false });
        await requestUnreadTokens(database, chain, tokens);
        const last = nfts.rows.length > limit ? nfts.rows[limit - 1] : undefined;
        const next = last && { position: { hash: last.tokenHash }, upperBound: nfts.indexed.toBlock ?? 0 };
        return { nfts, tokens, shared, next };
      },
      present: ({ nfts, tokens, shared }, envelope, { filter }) => {
        const { format, normalizeMetadata, media_items: mediaItems } = filter;
        const shown = { ...shared, format, normalizeMetadata, mediaItems, collection: 'pictures' } as const;
        return {
          ...showSyncState(nfts.state),
          ...envelope,
          indexed: showIndexed(nfts.indexed),
          result: tokens.map((token) => showNft(token, shown)),
        };
      },
    });
  };
}

/** An ERC-1155 id has no single owner: its amount is the total of all holders. */
function keyOf(
  { tokenId, receiver, supply, lastBlock }: NftWithTraits,
  address: RecordKey['address'],
  { collection, state }: FoundTraits<NftWithTraits>,
): RecordKey {
  const key = { address, tokenId, blockNumber: changeBlockOf(lastBlock) };
  return collection.contractType === 'ERC1155'
    ? { ...key, owner: null, amount: state.indexed.complete ? supply : null }
    : { ...key, owner: receiver, amount: '1' };
}

const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  traits: z.array(z.string()),
  format: z.enum(['decimal', 'hex']).default('decimal'),
  normalizeMetadata: z.boolean().default(false),
  media_items: z.boolean().default(false),
});

const REQUESTED_MAX = 25;
const ALLOWED = `an object that names 1 to ${REQUESTED_MAX} traits with their values, such as {"Background":"Blue"}`;

const VALUE = 'text, a number or a boolean';
const EXACT = 'a whole number up to 2^53, or a larger one as text: reading JSON has changed it';

const requestedTraitsSchema = z
  .object({
    traits: z
      .unknown()
      .transform((given, ctx): Readonly<Record<string, string>> => {
        const refuse = (value: unknown, allowed: string, path: string[] = []): void =>
          ctx.addIssue({
            code: 'custom',
            message: `must be ${allowed}`,
            path,
            params: { allowed, given: value },
          });
        const named =
          typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.entries(given) : [];
        if (given === undefined) ctx.addIssue({ code: 'invalid_type', expected: 'object', input: given });
        else if (named.length < 1 || named.length > REQUESTED_MAX) refuse(given, ALLOWED);
        for (const [type, value] of named.slice(0, REQUESTED_MAX)) {
          if (!['string', 'number', 'boolean'].includes(typeof value)) refuse(value, VALUE, [type]);
          if (Number.isInteger(value) && !Number.isSafeInteger(value)) refuse(value, EXACT, [type]);
        }
        return Object.fromEntries(named.map(([type, value]) => [type, String(value)]));
      })
      .openapi({
        type: 'object',
        additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
        minProperties: 1,
        maxProperties: REQUESTED_MAX,
        description: `1 to ${REQUESTED_MAX} traits by type, case-sensitive. Numbers and booleans are compared as text`,
        example: { Background: 'Blue' },
      }),
  })
  .openapi('NftTraitsQuestion');

function requestedTraits({ traits }: z.infer<typeof requestedTraitsSchema>): readonly Trait[] {
  const requested = Object.entries(traits).map(([type, value]) => traitAsStored({ type, value }));
  const unique = new Map(requested.map((trait) => [traitName(trait), trait]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trait]) => trait);
}
