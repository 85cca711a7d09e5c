import { indexedSchema } from '@chainstead/answers';
import { z } from '@hono/zod-openapi';
import { contractNftsSchema } from '../owners/owners-response.ts';
import { traitFigures } from '../records/rarity-figures.ts';
import { NOT_READY } from './asked-traits.ts';
import type { TraitRow } from './traits-statement.ts';

const figures = {
  count: z.int().min(1).openapi({ description: 'NFTs of the collection that have it', example: 1_242 }),
  percentage: z.number().openapi({ description: 'Of the collection, two decimals', example: 12.42 }),
  rarity_label: z.string().openapi({ example: 'Top 13% trait' }),
};
const traitType = z.string().openapi({ description: 'Empty where documents name none', example: 'Background' });

/** The answer of `getNFTTraitsByCollection` (docs/provider-contract.md#traits). */
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

/** The answer of `getNFTTraitsByCollectionPaginate`. */
export const traitsPageSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'From 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    indexed: indexedSchema,
    result: z.array(traitSchema),
  })
  .openapi('NftTraitsPage');

/** The answer of `getNFTByContractTraits`: as that of `getContractNFTs`. */
export const nftsByTraitsSchema = contractNftsSchema;

const notReadySchema = z.object({ message: z.string() }).openapi('NftTraitsNotReady');

/** The 202 of routes that show traits. */
export const NOT_READY_RESPONSE = {
  202: {
    description: 'Traits are being computed: ask again later',
    content: { 'application/json': { schema: notReadySchema, example: NOT_READY } },
  },
};

/** A trait with what is shown of it. @param tokens ids of the collection */
export function showTrait({ trait_type, trait_value, count }: TraitRow, tokens: number): z.infer<typeof traitSchema> {
  return { trait_type, trait_value, ...traitFigures(count, tokens) };
}

/** By type, each with its values in the order of the rows. */
export function groupTraits(rows: readonly TraitRow[], tokens: number): z.infer<typeof traitsSchema>['traits'] {
  const types = new Map<string, z.infer<typeof traitsSchema>['traits'][number]['values']>();
  for (const { trait_type: type, trait_value: value, count } of rows) {
    const values = types.get(type) ?? [];
    types.set(type, values);
    values.push({ trait_value: value, ...traitFigures(count, tokens) });
  }
  return [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, values]) => ({ trait_type: type, values }));
}
