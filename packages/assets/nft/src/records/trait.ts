import { createHash } from 'node:crypto';
import type { Address, ExactNumber } from '@chainstead/core';

export interface Trait {
  /** Empty if the document has none. */
  readonly type: string;
  readonly value: string;
}

export interface Attribute {
  readonly trait_type: string | null;
  readonly value: string | number | ExactNumber | boolean | null;
  readonly display_type: string | null;
}

export const TRAITS_PER_TOKEN_MAX = 100;
/** Characters. A longer type or value is prose. */
export const TRAIT_LENGTH_MAX = 256;

/** Each at most once. Dates and other values are no traits. */
export function traitsOf(attributes: readonly Attribute[]): readonly Trait[] {
  const traits = new Map<string, Trait>();
  for (const attribute of attributes) {
    const trait = traitOf(attribute);
    if (trait !== null) traits.set(traitName(trait), trait);
    if (traits.size >= TRAITS_PER_TOKEN_MAX) break;
  }
  return [...traits.values()];
}

export function traitOf({ trait_type: type, value, display_type: display }: Attribute): Trait | null {
  if (value === null || display === 'date') return null;
  const trait = traitAsStored({ type: type ?? '', value: String(value) });
  return trait.type.length > TRAIT_LENGTH_MAX || trait.value.length > TRAIT_LENGTH_MAX ? null : trait;
}

/** For text columns: no NUL, no half of a surrogate pair. */
export function traitAsStored({ type, value }: Trait): Trait {
  return { type: storable(type), value: storable(value) };
}

export function traitName({ type, value }: Trait): string {
  return JSON.stringify([type, value]);
}

/** 16 bytes: fits an index however long the texts are. */
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
