import { parseLosslessJson } from '@chainstead/core';
import type { ListEntry } from './list-entry.ts';
import { ListError } from './list-error.ts';
import type { ChainNamed, ListFormat } from './list-format.ts';
import { parseCsv } from './parse-csv.ts';

export interface ParsedList<Entry> {
  readonly format: string;
  readonly entries: readonly Entry[];
  readonly skipped: ReadonlyMap<string, number>;
}

export interface ParseListOptions<Entry> {
  readonly formats: readonly ListFormat<Entry>[];
  readonly content: string;
  readonly chainId?: number | undefined;
  readonly isKnownChain: (chainId: number) => boolean;
  readonly chainNamed: ChainNamed;
}

/** First entries win. @throws ListError LIST_FORMAT_UNKNOWN, LIST_CHAIN_MISSING */
export function parseList<Entry extends ListEntry>(options: ParseListOptions<Entry>): ParsedList<Entry> {
  const content = readContent(options.content);
  const format = options.formats.find((each) => each.matches(content));
  if (format === undefined) {
    const names = options.formats.map(({ name }) => name);
    const isOfDomains = typeof content === 'object' && content !== null && 'blacklist' in content;
    throw new ListError(
      'LIST_FORMAT_UNKNOWN',
      isOfDomains ? 'This is a list of domains without addresses' : 'The list format is unknown',
      `Known formats: ${names.join(', ')}`,
      { formats: names },
    );
  }
  const chainId = options.chainId ?? format.chainId;
  if (chainId === null)
    throw new ListError(
      'LIST_CHAIN_MISSING',
      `A list in the format ${format.name} has no chain`,
      'Set the chain, or apply the list to all chains',
      { format: format.name },
    );
  const schema = format.entry(chainId, options.chainNamed);
  const entries = new Map<string, Entry>();
  const skipped = new Map<string, number>();
  for (const item of format.items(content)) {
    const checked = schema.safeParse(item);
    const reason = checked.success
      ? refusal(checked.data, entries, options.isKnownChain)
      : (checked.error.issues[0]?.message ?? 'not an entry');
    if (reason !== null) skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    else if (checked.success) entries.set(keyOf(checked.data), checked.data);
  }
  return { format: format.name, entries: [...entries.values()], skipped };
}

function refusal(
  entry: ListEntry,
  entries: ReadonlyMap<string, unknown>,
  isKnownChain: (chainId: number) => boolean,
): string | null {
  if (entry.chainId !== 0 && !isKnownChain(entry.chainId)) return `chain ${entry.chainId} is unknown here`;
  return entries.has(keyOf(entry)) ? 'repeated address' : null;
}

function keyOf(entry: ListEntry): string {
  return `${entry.chainId}:${entry.address}`;
}

function readContent(text: string): unknown {
  if (!/^\s*[[{]/.test(text.slice(0, 1_000).replace(/^\uFEFF/, ''))) return [...parseCsv(text)];
  try {
    return parseLosslessJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new ListError(
      'LIST_FORMAT_UNKNOWN',
      `The list starts like JSON but is invalid: ${error instanceof Error ? error.message : String(error)}`,
      'Check the file or its source',
    );
  }
}
