import { ExactNumber } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { TraitFigures } from './rarity-figures.ts';
import { traitName, traitOf } from './trait.ts';

const text = z.string().nullable();
/** Written with the document's digits, even if a double has others. */
const number = z
  .custom<number | ExactNumber>((value) => typeof value === 'number' || value instanceof ExactNumber)
  .openapi({ type: 'number' });

const attributeSchema = z
  .object({
    trait_type: text,
    value: z.union([z.string(), number, z.boolean()]).nullable().openapi({
      description: 'As in the metadata, with all digits of a number',
    }),
    display_type: text,
    max_value: number.nullable(),
    trait_count: z.int().openapi({ description: 'Always 0' }),
    order: number.nullable(),
    count: z.int().optional().openapi({
      description:
        'Number of NFTs in the collection with this trait. Only if traits are computed, as for the next two fields',
    }),
    percentage: z.number().optional(),
    rarity_label: z.string().optional().openapi({ example: 'Top 13% trait' }),
  })
  .openapi('NftAttribute');

/** docs/api/nfts.md#nft-records */
export const normalizedMetadataSchema = z
  .object({
    name: text,
    description: text,
    image: text.openapi({ description: 'As in the metadata' }),
    animation_url: text,
    external_link: text,
    external_url: text,
    attributes: z.array(attributeSchema),
  })
  .openapi('NftNormalizedMetadata', {
    description: 'Fields are null if the metadata lacks them or is not known yet',
  });

export type NormalizedMetadata = z.infer<typeof normalizedMetadataSchema>;
type Attribute = z.infer<typeof attributeSchema>;
type Fields = Readonly<Record<string, unknown>>;

/**
 * The first key with a value wins; empty texts count as absent.
 * @param fields null while there is no document
 * @param traits by {@link traitName}
 */
export function normalizeMetadata(
  fields: Fields | null,
  traits: ReadonlyMap<string, TraitFigures> = new Map(),
): NormalizedMetadata {
  const document = fields ?? {};
  return {
    name: firstText(document, ['name', 'title']),
    description: firstText(document, ['description']),
    image: pictureOf(document),
    animation_url: firstText(document, ['animation_url']),
    external_link: firstText(document, ['external_link', 'external_url']),
    external_url: firstText(document, ['external_url', 'external_link']),
    attributes: attributesOf(document).map((attribute) => {
      const trait = traitOf(attribute);
      return { ...attribute, ...(trait !== null && traits.get(traitName(trait))) };
    }),
  };
}

export function pictureOf(fields: Fields): string | null {
  return firstText(fields, ['image', 'image_url', 'imageUrl', 'image_data']);
}

function firstText(fields: Fields, keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = textOf(ownValue(fields, key));
    if (value !== null && value !== '') return value;
  }
  return null;
}

export function attributesOf(fields: Fields): Attribute[] {
  const list = ['attributes', 'traits', 'properties'].map((key) => ownValue(fields, key)).find(Array.isArray);
  return (list ?? []).flatMap((item: unknown) => attributeOf(item) ?? []);
}

function attributeOf(item: unknown): Attribute | null {
  if (Array.isArray(item) || item === null) return null;
  const fields: Fields = typeof item === 'object' ? Object(item) : { value: item };
  const value = ownValue(fields, 'value');
  return {
    trait_type: textOf(ownValue(fields, 'trait_type')),
    value: typeof value === 'string' || typeof value === 'boolean' ? value : numberOf(value),
    display_type: textOf(ownValue(fields, 'display_type')),
    max_value: numberOf(ownValue(fields, 'max_value')),
    trait_count: 0,
    order: numberOf(ownValue(fields, 'order')),
  };
}

/** `constructor` and the like are inherited. */
function ownValue(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : (numberOf(value)?.toString() ?? null);
}

/** 1e999 parses to infinity. */
function numberOf(value: unknown): number | ExactNumber | null {
  return value instanceof ExactNumber || (typeof value === 'number' && Number.isFinite(value)) ? value : null;
}
