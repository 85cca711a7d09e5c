import { z } from '@hono/zod-openapi';
import { COLLECTION_SYNC } from '../owners/collection-subjects.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { recordParameters } from '../records/record-parameters.ts';
import { nftView } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { type Trait, traitAsStored, traitName } from '../records/trait.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { defineListRoute, type FoundTraits } from './requested-traits.ts';
import { TRAITS_PENDING } from './traits-page-route.ts';
import { type NftWithTraits, tokensByTraitsStatement } from './traits-statement.ts';

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

/** docs/api/nfts.md#traits */
export const nftsByTraitsRoute = defineListRoute({
  path: '/api/v2.2/nft/{address}/nfts-by-traits',
  operationId: 'getNFTByContractTraits',
  tag: 'NFTs',
  summary: 'List NFTs of a collection by traits',
  description:
    'NFTs of a collection with all requested traits, highest token hash first. The first request starts reading the metadata: returns 202 until it is complete. Limited to collections of up to 50,000 NFTs.',
  params: ['address'],
  query: ['chain', recordParameters({ normalizeMetadata: false }), 'limit', 'cursor'],
  body: requestedTraitsSchema,
  binds: (body) => ({ traits: requestedTraits(body).map(traitName) }),
  name: 'ContractNfts',
  response: 'A page of NFTs',
  pending: TRAITS_PENDING,
  errors: [404, 413],
  datasets: [nftTransfers.name],
  position: z.string().regex(/^[0-9a-f]{32}$/),
  firstPage: 0,
  async read(given) {
    const { services, database, chain, address: contract } = given;
    const { limit, after } = given.query;
    const query = { contract, traits: requestedTraits(given.body), limit, after };
    const nfts = await services.traits.read<NftWithTraits>(given, tokensByTraitsStatement(chain, query));
    if (nfts === null) return null;
    const keys = nfts.rows.slice(0, limit).map((row) => keyOf(row, contract, nfts));
    const shown = await services.records.read(chain, keys, { includePrices: false });
    await requestUnreadTokens(database, chain, shown.rows);
    const { indexed, state } = nfts;
    const last = nfts.rows.length > limit ? nfts.rows[limit - 1] : undefined;
    const next = last && { position: last.tokenHash, upperBound: indexed.toBlock ?? 0 };
    return { ...shown, indexed, state, next };
  },
  view: nftView,
  row: (record, page, given) => [record, page, given],
  fields: (standard) => ({ ...COLLECTION_SYNC, ...standard }),
});

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

function requestedTraits({ traits }: z.infer<typeof requestedTraitsSchema>): readonly Trait[] {
  const requested = Object.entries(traits).map(([type, value]) => traitAsStored({ type, value }));
  const unique = new Map(requested.map((trait) => [traitName(trait), trait]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trait]) => trait);
}
