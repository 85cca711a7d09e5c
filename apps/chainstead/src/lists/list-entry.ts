import { type Address, isAddress, parseAddress } from '@chainstead/core';
import type { CollectionFields } from '@chainstead/nft';
import { cleanText, NAME_LENGTH_MAX, SYMBOL_LENGTH_MAX } from '@chainstead/tokens/abi-text';
import { z } from 'zod';

/** `chainId` 0: every chain (labels and scams only). */
export interface ListEntry {
  readonly address: Address;
  readonly chainId: number;
}

export interface TokenListEntry extends ListEntry {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
}

export interface LabelListEntry extends ListEntry {
  readonly label: string | null;
  readonly entity: string | null;
  readonly entityLogo: string | null;
}

export interface SpamEntry extends ListEntry {
  readonly reason: string | null;
}

/** `chainId` is never 0. */
export interface CollectionListEntry extends ListEntry, CollectionFields {
  readonly verified: boolean | null;
  readonly possibleSpam: boolean | null;
}

const LABEL_LENGTH_MAX = 256;
const URL_LENGTH_MAX = 2_048;

const clean = (charactersMax: number) =>
  z
    .string()
    .nullish()
    .transform((text = null) => (text === null ? null : cleanText(text, charactersMax)));

/** Untrusted: each entry is checked and cleaned. */
export const fields = {
  address: z
    .string()
    .trim()
    .refine(isAddress, { error: 'address is not 0x and 40 hexadecimal digits' })
    .transform(parseAddress),
  name: clean(NAME_LENGTH_MAX),
  symbol: clean(SYMBOL_LENGTH_MAX),
  label: clean(LABEL_LENGTH_MAX),
  decimals: z
    .int({ error: 'decimals is not a whole number' })
    .min(0, { error: 'decimals is negative' })
    .max(255, { error: 'decimals is above 255' })
    .nullish()
    .transform((decimals) => decimals ?? null),
  /** Keeps only a picture that a browser may load. */
  logo: z
    .string()
    .nullish()
    .transform((text = null) => {
      if (text === null || text.length > URL_LENGTH_MAX) return null;
      return /^(https?|ipfs):\/\/[^\s"'<>]+$/i.test(text) && URL.canParse(text) ? text : null;
    }),
  chainId: z.int({ error: 'chainId is not a whole number' }).min(1, { error: 'chainId is not positive' }),
};
