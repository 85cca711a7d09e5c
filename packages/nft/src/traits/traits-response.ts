import { indexedSchema } from '@chainstead/data-api';
import { z } from '@hono/zod-openapi';
import { contractNftsSchema } from '../owners/owners-response.ts';
import { traitFigures } from '../records/rarity-figures.ts';
import { NOT_READY } from './requested-traits.ts';
import type { TraitRow } from './traits-statement.ts';

const figures = {
  count: z.int().min(1).openapi({ description: 'Number of NFTs in the collection with this trait', example: 1_242 }),
  percentage: z.number().openapi({ description: 'Percentage of the collection, two decimals', example: 12.42 }),
  rarity_label: z.string().openapi({ example: 'Top 13% trait' }),
};
const traitType = z.string().openapi({ description: 'Empty if the metadata contains none', example: 'Background' });

/** The response of `getNFTTraitsByCollection` (docs/api/nfts.md#traits). */
export const traitsSchema = z
  .object({
    traits: z.array(
      z
        .object({
          trait_type: traitType,
          values: z.array(
            z.object({ trait_value: z.string().openapi({ example: 'Blue' }), ...figures }).openapi('NftTraitValue'),
          ),
        })
        .openapi('NftTraitType'),
    ),
    indexed: indexedSchema,
  })
  .openapi('NftTraits');

const traitSchema = z
  .object({ trait_type: traitType, trait_value: z.string().openapi({ example: 'Blue' }), ...figures })
  .openapi('NftTrait');

/** The response of `getNFTTraitsByCollectionPaginate`. */
export const traitsPageSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(traitSchema),
  })
  .openapi('NftTraitsPage');

/** The response of `getNFTByContractTraits`: the same as for `getContractNFTs`. */
export const nftsByTraitsSchema = contractNftsSchema;

const notReadySchema = z.object({ message: z.string() }).openapi('NftTraitsNotReady');

/** The 202 response of trait lists. */
export const TRAITS_PENDING = {
  description: 'The traits are being computed. Retry later',
  schema: notReadySchema,
  body: NOT_READY,
};

/** The same for a route without pages. */
export const NOT_READY_RESPONSE = {
  202: {
    description: TRAITS_PENDING.description,
    content: { 'application/json': { schema: notReadySchema, example: NOT_READY } },
  },
};

/** Returns a trait with its figures. @param tokens ids of the collection */
export function showTrait({ trait_type, trait_value, count }: TraitRow, tokens: number): z.infer<typeof traitSchema> {
  return { trait_type, trait_value, ...traitFigures(count, tokens) };
}

/** Groups by type, each with its values in row order. */
export function groupTraits(rows: readonly TraitRow[], tokens: number): z.infer<typeof traitsSchema>['traits'] {
  const types = new Map<string, z.infer<typeof traitsSchema>['traits'][number]['values']>();
  for (const { trait_type: type, trait_value: value, count } of rows) {
    const values = types.get(type) ?? [];
    types.set(type, values);
    values.push({ trait_value: value, ...traitFigures(count, tokens) });
  }
  return [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, values]) => ({ trait_type: type, values }));
}
