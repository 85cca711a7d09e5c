import { type Address, isAddress, parseAddress } from '@chainstead/core';
import type { CollectionFields } from '@chainstead/nft';
import { cleanText, NAME_LENGTH_MAX, SYMBOL_LENGTH_MAX } from '@chainstead/tokens/token-metadata';
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

export type ChainNamed = (name: string) => number | null;

export interface ListFormat<Entry> {
  readonly name: string;
  readonly matches: (content: unknown) => boolean;
  readonly items: (content: unknown) => Iterable<unknown>;
  /** For items without a chain: an id, 0 for every chain, null: the caller decides. */
  readonly chainId: number | null;
  readonly entry: (chainId: number, chainNamed: ChainNamed) => z.ZodType<Entry>;
}

export function listedItems(content: unknown): readonly unknown[] {
  return Array.isArray(content) ? content : [];
}

export function isArrayOf(content: unknown, item: z.ZodType): boolean {
  return Array.isArray(content) && content.length > 0 && item.safeParse(content[0]).success;
}

export function isRecordOf(content: unknown, key: RegExp, value: z.ZodType): boolean {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return false;
  const first = Object.entries(content)[0];
  return first !== undefined && key.test(first[0]) && value.safeParse(first[1]).success;
}

export function isCsvWith(content: unknown, ...columns: readonly string[]): boolean {
  return isArrayOf(content, z.looseObject(Object.fromEntries(columns.map((column) => [column, z.string()]))));
}

/** RFC 4180, by lower-case header. Missing fields are empty, surplus ones dropped. */
export function* parseCsv(text: string): Generator<Readonly<Record<string, string>>> {
  let header: readonly string[] | null = null;
  for (const fields of records(text)) {
    if (fields.length === 1 && fields[0] === '') continue;
    if (header === null) header = fields.map((name) => name.trim().toLowerCase());
    else yield Object.fromEntries(header.map((name, index) => [name, fields[index] ?? '']));
  }
}

/** A field and its end. An unclosed quote is a character. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/y;

function* records(text: string): Generator<string[]> {
  let fields: string[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at <= text.length) {
    FIELD.lastIndex = at;
    const match = FIELD.exec(text);
    if (match === null) return;
    at = FIELD.lastIndex;
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',') continue;
    yield fields;
    fields = [];
    if (match[3] === '') return;
  }
}
