import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { contractNftsSchema } from '../owners/owners-response.ts';
import { traitFigures } from '../records/rarity-figures.ts';
import { NOT_READY } from './requested-traits.ts';
import type { StoredTrait } from './traits-statement.ts';

const figures = {
  count: z
    .int()
    .min(1)
    .openapi({ description: 'Number of NFTs in the collection with this trait', example: 1_242 }),
  percentage: z.number().openapi({ description: 'Percentage of the collection, two decimals', example: 12.42 }),
  rarity_label: z.string().openapi({ example: 'Top 13% trait' }),
};
const traitType = z
  .string()
  .openapi({ description: 'Empty if the metadata contains none', example: 'Background' });

/** docs/api/nfts.md#traits */
export const traitsSchema = z
  .object({
    traits: z.array(
      z
        .object({
          trait_type: traitType,
          values: z.array(
            z
              .object({ trait_value: z.string().openapi({ example: 'Blue' }), ...figures })
              .openapi('NftTraitValue'),
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

export const traitsPageSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(traitSchema),
  })
  .openapi('NftTraitsPage');

export const nftsByTraitsSchema = contractNftsSchema;

const notReadySchema = z.object({ message: z.string() }).openapi('NftTraitsNotReady');

export const TRAITS_PENDING = {
  description: 'The traits are being computed. Retry later',
  schema: notReadySchema,
  body: NOT_READY,
};

export const NOT_READY_RESPONSE = {
  202: {
    description: TRAITS_PENDING.description,
    content: { 'application/json': { schema: notReadySchema, example: NOT_READY } },
  },
};

export function showTrait(
  { traitType, traitValue, count }: StoredTrait,
  tokens: number,
): z.infer<typeof traitSchema> {
  return { trait_type: traitType, trait_value: traitValue, ...traitFigures(count, tokens) };
}

export function groupTraits(
  rows: readonly StoredTrait[],
  tokens: number,
): z.infer<typeof traitsSchema>['traits'] {
  return [...Map.groupBy(rows, ({ traitType }) => traitType)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([trait_type, traits]) => ({
      trait_type,
      values: traits.map(({ traitValue, count }) => ({
        trait_value: traitValue,
        ...traitFigures(count, tokens),
      })),
    }));
}
