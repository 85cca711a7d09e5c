import type { ChainRegistry } from '@chainstead/chains';
import { ChainsteadError, parseLosslessJson } from '@chainstead/core';
import {
  copyHex,
  copyValue,
  type Database,
  rawSql,
  sql,
  type Transaction,
  transactionLock,
} from '@chainstead/db';
import { COLLECTION_COLUMNS } from '@chainstead/nft';
import { refreshTokens } from '@chainstead/tokens/pending-metadata';
import { collectionFormats, labelFormats } from './label-formats.ts';
import {
  type ChainNamed,
  type CollectionListEntry,
  type LabelListEntry,
  type ListEntry,
  type ListFormat,
  parseCsv,
  type SpamEntry,
  type TokenListEntry,
} from './list-entry.ts';
import { spamFormats, tokenListFormats } from './token-list-formats.ts';

export type ListKind = 'token-list' | 'labels' | 'spam' | 'collections';

export interface ImportListOptions {
  readonly database: Database;
  readonly chains: ChainRegistry;
  readonly kind: ListKind;
  /** Another import of this source replaces its rows only. */
  readonly source: string;
  /** JSON or CSV (docs/api/spam.md, docs/api/collections.md). */
  readonly content: string;
  /** For entries without a chain; 0: every chain (labels and scams). Default: by the format. */
  readonly chainId?: number;
}

export interface ImportReport {
  readonly format: string;
  readonly rows: number;
  /** By reason, most frequent first. */
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
}

/** In one transaction. @throws ListError if nothing is usable */
export async function importList(options: ImportListOptions): Promise<ImportReport> {
  return IMPORTS[options.kind](options);
}

interface ListTable<Entry> {
  readonly name: string;
  readonly formats: readonly ListFormat<Entry>[];
  readonly addressColumn: 'address' | 'token_address';
  readonly columns: readonly string[];
  readonly values: (entry: Entry) => readonly (string | number | boolean | null)[];
  readonly tokens: 'adds' | 'changes' | 'none';
}

const TOKEN_LISTS: ListTable<TokenListEntry> = {
  name: 'token_list_entries',
  formats: tokenListFormats,
  addressColumn: 'address',
  columns: ['name', 'symbol', 'decimals', 'logo'],
  values: ({ name, symbol, decimals, logo }) => [name, symbol, decimals, logo],
  tokens: 'adds',
};

const LABELS: ListTable<LabelListEntry> = {
  name: 'address_labels',
  formats: labelFormats,
  addressColumn: 'address',
  columns: ['label', 'entity', 'entity_logo'],
  values: ({ label, entity, entityLogo }) => [label, entity, entityLogo],
  tokens: 'none',
};

const SPAM: ListTable<SpamEntry> = {
  name: 'spam_list_entries',
  formats: spamFormats,
  addressColumn: 'address',
  columns: ['reason'],
  values: ({ reason }) => [reason],
  tokens: 'changes',
};

const COLLECTIONS: ListTable<CollectionListEntry> = {
  name: 'collection_list_entries',
  formats: collectionFormats,
  addressColumn: 'token_address',
  columns: [...COLLECTION_COLUMNS.map(([, column]) => column), 'verified', 'possible_spam'],
  values: (entry) => [...COLLECTION_COLUMNS.map(([field]) => entry[field]), entry.verified, entry.possibleSpam],
  tokens: 'none',
};

const IMPORTS: Readonly<Record<ListKind, (options: ImportListOptions) => Promise<ImportReport>>> = {
  'token-list': (options) => importInto(TOKEN_LISTS, options),
  labels: (options) => importInto(LABELS, options),
  spam: (options) => importInto(SPAM, options),
  collections: (options) => importInto(COLLECTIONS, options),
};

async function importInto<Entry extends ListEntry>(
  table: ListTable<Entry>,
  options: ImportListOptions,
): Promise<ImportReport> {
  const { source, chains } = options;
  const list = parseList({
    formats: table.formats,
    content: options.content,
    chainId: options.chainId,
    isKnownChain: (chainId) => chains.find(chainId) !== null,
    chainNamed: (name) => chains.find(name)?.id ?? null,
  });
  const skipped = [...list.skipped]
    .map(([reason, count]) => ({ reason, count }))
    .toSorted((a, b) => b.count - a.count);
  if (list.entries.length === 0) {
    const reasons = skipped.map(({ reason, count }) => `${count}: ${reason}`).join('; ');
    throw new ListError(
      'LIST_EMPTY',
      `The list has no usable entry${reasons === '' ? '' : ` (${reasons})`}`,
      'Import a list with usable entries. Earlier imports from this source are unchanged',
      { source },
    );
  }
  await options.database.transaction((transaction) => replaceRows(transaction, table, source, list.entries));
  return { format: list.format, rows: list.entries.length, skipped };
}

async function replaceRows<Entry extends ListEntry>(
  transaction: Transaction,
  table: ListTable<Entry>,
  source: string,
  entries: readonly Entry[],
): Promise<void> {
  // Two imports of the same tokens would wait for each other's rows.
  await transactionLock(transaction, 'list-import');
  await transaction.query(
    sql`CREATE TEMPORARY TABLE touched_tokens (address bytea, chain_id bigint) ON COMMIT DROP`,
  );
  await touchTokens(transaction, table, source);
  await transaction.query(sql`DELETE FROM ${rawSql(table.name)} WHERE source = ${source}`);
  const columns = [table.addressColumn, 'chain_id', 'source', ...table.columns];
  await transaction.copy(table.name, columns, copyLines(table, source, entries));
  if (table.tokens === 'adds')
    await transaction.query(
      sql`INSERT INTO tokens (address, chain_id) SELECT address, chain_id FROM ${rawSql(table.name)} WHERE source = ${source} ORDER BY address, chain_id ON CONFLICT DO NOTHING`,
    );
  await touchTokens(transaction, table, source);
  // Makes API processes drop cached labels.
  await transaction.query(
    sql`INSERT INTO list_revisions (list, revision) VALUES (${table.name}, 1) ON CONFLICT (list) DO UPDATE SET revision = list_revisions.revision + 1`,
  );
  if (table.tokens !== 'none')
    await refreshTokens(transaction, sql`SELECT address, chain_id FROM touched_tokens`);
}

async function touchTokens(
  transaction: Transaction,
  table: Pick<ListTable<unknown>, 'name' | 'tokens'>,
  source: string,
): Promise<void> {
  if (table.tokens === 'none') return;
  await transaction.query(
    sql`INSERT INTO touched_tokens SELECT token.address, token.chain_id FROM ${rawSql(table.name)} AS entry
     JOIN tokens AS token ON token.address = entry.address AND entry.chain_id IN (token.chain_id, 0) WHERE entry.source = ${source}`,
  );
}

function* copyLines<Entry extends ListEntry>(
  table: ListTable<Entry>,
  source: string,
  entries: readonly Entry[],
): Generator<string> {
  for (const entry of entries) {
    const values = [source, ...table.values(entry)].map(copyValue);
    yield [copyHex(entry.address), String(entry.chainId), ...values].join('\t');
  }
}

interface ParsedList<Entry> {
  readonly format: string;
  readonly entries: readonly Entry[];
  readonly skipped: ReadonlyMap<string, number>;
}

interface ParseListOptions<Entry> {
  readonly formats: readonly ListFormat<Entry>[];
  readonly content: string;
  readonly chainId?: number | undefined;
  readonly isKnownChain: (chainId: number) => boolean;
  readonly chainNamed: ChainNamed;
}

/** First entries win. @throws ListError LIST_FORMAT_UNKNOWN, LIST_CHAIN_MISSING */
function parseList<Entry extends ListEntry>(options: ParseListOptions<Entry>): ParsedList<Entry> {
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

/** The list can't be imported. Codes: `LIST_FORMAT_UNKNOWN`, `LIST_CHAIN_MISSING`, `LIST_EMPTY`. Nothing was changed. */
class ListError extends ChainsteadError {
  constructor(
    code: 'LIST_FORMAT_UNKNOWN' | 'LIST_CHAIN_MISSING' | 'LIST_EMPTY',
    message: string,
    remedy: string,
    facts: Readonly<Record<string, unknown>> = {},
  ) {
    super({ code, message, remedy, facts, retryable: false });
  }
}
