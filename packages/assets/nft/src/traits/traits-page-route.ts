import {
  each,
  fieldsOf,
  type Indexed,
  InvalidParameterError,
  indexedBlocks,
  orderParameter,
  view,
  wire,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type TraitFigures, traitFigures } from '../records/rarity-figures.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { defineListRoute, defineRoute, NOT_READY } from './requested-traits.ts';
import { type StoredTrait, traitListStatement } from './traits-statement.ts';

const { text } = wire;
const traitType = wire.wire(
  z.string().openapi({ description: 'Empty if the metadata contains none', example: 'Background' }),
);

interface ShownTrait extends TraitFigures {
  readonly traitType: string;
  readonly traitValue: string;
}

const valueFields = fieldsOf<ShownTrait>()({
  trait_value: text({ example: 'Blue' }, ({ traitValue }) => traitValue),
  count: wire.wire(z.int().min(1))(
    { description: 'Number of NFTs in the collection with this trait', example: 1_242 },
    ({ count }) => count,
  ),
  percentage: wire.wire(z.number())(
    { description: 'Percentage of the collection, two decimals', example: 12.42 },
    ({ percentage }) => percentage,
  ),
  rarity_label: text({ example: 'Top 13% trait' }, (trait) => trait.rarity_label),
});
const valueView = view('NftTraitValue', (trait: ShownTrait) => trait, valueFields);
const traitView = view('NftTrait', (trait: ShownTrait) => trait, {
  trait_type: traitType((trait) => trait.traitType),
  ...valueFields,
});
const typeView = view('NftTraitType', (values: readonly ShownTrait[]) => values, {
  trait_type: traitType(([first]) => first?.traitType ?? ''),
  values: each(valueView)((values) => values),
});

/** docs/api/nfts.md#traits */
const traitsView = view('NftTraits', (traits: readonly ShownTrait[], indexed: Indexed) => ({ traits, indexed }), {
  traits: each(typeView)(({ traits }) =>
    [...Map.groupBy(traits, (trait) => trait.traitType)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, values]) => values),
  ),
  indexed: indexedBlocks(),
});

function shownTrait({ traitType, traitValue, count }: StoredTrait, tokens: number): ShownTrait {
  return { traitType, traitValue, ...traitFigures(count, tokens) };
}

export const TRAITS_PENDING = {
  description: 'The traits are being computed. Retry later',
  schema: z.object({ message: z.string() }).openapi('NftTraitsNotReady'),
  body: NOT_READY,
};

/** docs/api/nfts.md#traits */
export const traitsPageRoute = defineListRoute({
  path: '/api/v2.2/nft/{address}/traits/paginate',
  operationId: 'getNFTTraitsByCollectionPaginate',
  tag: 'NFTs',
  summary: 'List traits of an NFT collection in pages',
  description:
    'Traits of a collection, ordered by the number of NFTs with each. The first request starts reading the metadata: returns 202 until it is complete. A cursor expires when the traits are recomputed. Limited to collections of up to 50,000 NFTs.',
  params: ['address'],
  query: ['chain', 'limit', 'cursor', { order: orderParameter('Sort order by count, then by type and value.') }],
  name: 'NftTraitsPage',
  response: 'A page of traits',
  pending: TRAITS_PENDING,
  errors: [404],
  datasets: [nftTransfers.name],
  position: z.object({ generation: z.int(), place: z.int() }),
  firstPage: 1,
  async read(given) {
    const { services, chain, address: contract, query } = given;
    const { limit, order, after } = query;
    const statement = traitListStatement(chain, { contract, limit, order, after: after?.place ?? null });
    const page = await services.traits.read<StoredTrait>(given, statement);
    if (after !== null && after.generation !== (page?.generation ?? null)) throw computedAgain(given.cursor);
    if (page === null) return null;
    const { generation, indexed } = page;
    const rows = page.rows.slice(0, limit);
    const last = page.rows.length > limit ? rows.at(-1) : undefined;
    const next =
      last === undefined || generation === null
        ? null
        : { position: { generation, place: last.place }, upperBound: indexed.toBlock ?? 0 };
    return { ...page, rows, next };
  },
  view: traitView,
  row: (row, { tokens }) => [shownTrait(row, tokens)],
});

function computedAgain(cursor: string | undefined): InvalidParameterError {
  return new InvalidParameterError({
    parameter: 'cursor',
    given: cursor,
    message: 'cursor is of traits that have been computed again since: begin with the first page',
  });
}

const TRAITS_MAX = 5_000;

/** docs/api/nfts.md#traits */
export const traitsRoute = defineRoute({
  path: '/api/v2.2/nft/{address}/traits',
  operationId: 'getNFTTraitsByCollection',
  tag: 'NFTs',
  summary: 'Get traits of an NFT collection',
  description:
    'Traits of a collection by type, with the number of NFTs per value. The first request starts reading the metadata: returns 202 until it is complete. Limited to collections of up to 50,000 NFTs and the 5,000 most frequent traits; the paged route returns all traits.',
  params: ['address'],
  query: ['chain'],
  datasets: [nftTransfers.name],
  response: { description: 'The traits', schema: traitsView.schema },
  otherResponses: {
    202: {
      description: TRAITS_PENDING.description,
      content: { 'application/json': { schema: TRAITS_PENDING.schema, example: NOT_READY } },
    },
  },
  errors: [404],
  async answer(given) {
    const { services, chain, address: contract, c } = given;
    const statement = traitListStatement(chain, { contract, limit: TRAITS_MAX, order: 'DESC', after: null });
    const list = await services.traits.read<StoredTrait>(given, statement);
    if (list === null) return c.json(NOT_READY, 202);
    const { rows, indexed, tokens } = list;
    const complete = indexed.complete && rows.length <= TRAITS_MAX;
    const traits = rows.slice(0, TRAITS_MAX).map((row) => shownTrait(row, tokens));
    return traitsView.show(traits, { ...indexed, complete });
  },
});
