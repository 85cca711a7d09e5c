import { z } from 'zod';

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
