import { createHash } from 'node:crypto';
import type { Address } from '@chainstead/core';
import type { NormalizedMetadata } from './normalized-metadata.ts';

/** What a document says of a token, as text. */
export interface Trait {
  /** Empty where the document names none. */
  readonly type: string;
  readonly value: string;
}

/** Traits of a document above this are left out. */
export const TRAITS_PER_TOKEN_MAX = 100;
/** A trait whose type or value is longer is left out: it is prose. Characters. */
export const TRAIT_LENGTH_MAX = 256;

/**
 * The traits of a document by its normalised attributes, each at most once, in their order. Numbers and booleans count by their text; values
 * of other kinds, and dates, are none.
 */
export function traitsOf(attributes: NormalizedMetadata['attributes']): readonly Trait[] {
  const traits = new Map<string, Trait>();
  for (const attribute of attributes) {
    const trait = traitOf(attribute);
    if (trait !== null) traits.set(traitName(trait), trait);
    if (traits.size >= TRAITS_PER_TOKEN_MAX) break;
  }
  return [...traits.values()];
}

/** The trait that an attribute is; null where it is none. */
export function traitOf(
  attribute: Pick<NormalizedMetadata['attributes'][number], 'trait_type' | 'value' | 'display_type'>,
): Trait | null {
  const { trait_type: type, value, display_type: display } = attribute;
  if (value === null || display === 'date') return null;
  const trait = traitAsStored({ type: type ?? '', value: String(value) });
  return trait.type.length > TRAIT_LENGTH_MAX || trait.value.length > TRAIT_LENGTH_MAX ? null : trait;
}

/** Fit for text columns: no NUL, no half of a surrogate pair. */
export function traitAsStored({ type, value }: Trait): Trait {
  return { type: storable(type), value: storable(value) };
}

/** One text for each trait. */
export function traitName({ type, value }: Trait): string {
  return JSON.stringify([type, value]);
}

/** 16 bytes for each trait of a contract, which an index can hold however long its texts are. */
export function traitKey(contract: Address, trait: Trait): Buffer {
  return createHash('sha256')
    .update(`${contract}${traitName(trait)}`)
    .digest()
    .subarray(0, KEY_BYTES);
}

const KEY_BYTES = 16;

function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
