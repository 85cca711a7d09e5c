import type { Chain } from '@chainstead/chains';
import { type Address, type ChainId, type Clock, systemClock } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  hexText,
  type ReadDatabase,
  rowsAfter,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import type { ChainInSql } from '../coverage/block-span.ts';

export interface LabelBook {
  /** A page's statement can then leave them out. Has them read if due. */
  isKept(database: ReadDatabase): boolean;
  /** @param revision {@link LABEL_REVISION} of the page; null: other labels are cached, and a page looks its own up */
  labelsAt(chain: Pick<Chain, 'id'>, revision: number): ((address: Address) => AddressLabel) | null;
}

export interface LabelBookOptions {
  /** With more labels none are cached; one takes about 300 bytes. @default 50000 */
  readonly keptMax?: number;
  readonly clock?: Pick<Clock, 'now'>;
}

export const LABEL_REVISION = sql`coalesce((SELECT revision FROM list_revisions WHERE list = 'address_labels'), 0)`;

const KEPT_MAX = 50_000;
const TOGETHER = 2_000;
/** Rows that were written by hand show after it. */
const READ_AGAIN_MS = 600_000;
const TRY_AGAIN_MS = 10_000;

const books = new WeakMap<ReadDatabase, LabelBook>();

/** One per database: all routes share it. */
export function labelBookOf(database: ReadDatabase): LabelBook {
  const book = books.get(database) ?? createLabelBook();
  books.set(database, book);
  return book;
}

export function createLabelBook({ keptMax = KEPT_MAX, clock = systemClock }: LabelBookOptions = {}): LabelBook {
  let book: Book | null = null;
  let isReading = false;
  let dueAt = 0;

  function readWhenDue(database: ReadDatabase): void {
    if (isReading || clock.now() < dueAt) return;
    isReading = true;
    readBook(database, keptMax)
      .then((read) => {
        book = read === 'too many' ? null : read;
        dueAt = clock.now() + READ_AGAIN_MS;
      })
      // Pages look labels up until then, and report an outage.
      .catch(() => {
        dueAt = clock.now() + TRY_AGAIN_MS;
      })
      .finally(() => {
        isReading = false;
      });
  }

  return {
    isKept(database) {
      readWhenDue(database);
      return book !== null;
    },
    labelsAt({ id }, revision) {
      if (book?.revision === revision) return book.labelsOn(id);
      // A standby may lag behind the labels that are cached.
      if (book === null || revision > book.revision) dueAt = 0;
      return null;
    },
  };
}

interface Book {
  readonly revision: number;
  labelsOn(chainId: ChainId): (address: Address) => AddressLabel;
}

interface StoredLabel extends AddressLabel {
  readonly address: Address;
  readonly chainId: number;
  readonly source: string;
}

async function readBook(database: ReadDatabase, keptMax: number): Promise<Book | 'too many'> {
  const revision = await readRevision(database);
  const rows: StoredLabel[] = [];
  let last: StoredLabel | undefined;
  do {
    const part = await readPart(database, last);
    for (const row of part) rows.push(row);
    if (rows.length > keptMax) return 'too many';
    last = part.length < TOGETHER ? undefined : part.at(-1);
  } while (last !== undefined);
  if ((await readRevision(database)) !== revision)
    throw new RangeError('Labels were imported while they were read');
  // The first of an address comes last, and stays.
  const ordered = rows.toSorted(byPrecedence).reverse();
  const onAll = new Map<Address, AddressLabel>();
  const onOne = new Map<number, Map<Address, AddressLabel>>();
  for (const { chainId, address, label, entity, entityLogo } of ordered) {
    const shown = { label, entity, entityLogo };
    if (chainId === 0) onAll.set(address, shown);
    else if (onOne.get(chainId)?.set(address, shown) === undefined)
      onOne.set(chainId, new Map([[address, shown]]));
  }
  return {
    revision,
    labelsOn(chainId) {
      const own = onOne.get(chainId);
      return (address) => own?.get(address) ?? onAll.get(address) ?? NO_LABEL;
    },
  };
}

async function readRevision(database: ReadDatabase): Promise<number> {
  const [row] = await database.select<{ revision: number }>(sql`SELECT ${LABEL_REVISION} AS revision`);
  return row?.revision ?? 0;
}

function readPart(database: ReadDatabase, last: StoredLabel | undefined): Promise<StoredLabel[]> {
  const key = ['address', 'chain_id', 'source'];
  const after =
    last === undefined
      ? []
      : [rowsAfter('ASC', key, [sql`${addressBytes(last.address)}`, sql`${last.chainId}`, sql`${last.source}`])];
  return database.select<StoredLabel>(
    sql`SELECT ${hexText('address')} AS address, chain_id, source, label, entity, entity_logo
     FROM address_labels ${where(after)} ORDER BY address, chain_id, source LIMIT ${TOGETHER}`,
  );
}

function byPrecedence(one: StoredLabel, other: StoredLabel): number {
  return (
    Number(one.entity === null) - Number(other.entity === null) ||
    Buffer.compare(Buffer.from(one.source), Buffer.from(other.source))
  );
}

export interface AddressLabel {
  readonly label: string | null;
  readonly entity: string | null;
  readonly entityLogo: string | null;
}

export type LabelEntry = readonly [string, string | null, string | null, string | null];

/** Looks up by address alone: row by row, or for both chain ids, takes several times as long. */
export function labelsOf(addresses: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT json_agg(ARRAY[encode(address, 'hex'), label, entity, entity_logo] ORDER BY chain_id = 0, entity IS NULL, source COLLATE "C")
    FROM address_labels WHERE address = ANY (${addresses}) AND ${expectedTrue(sql`chain_id IN (${chainId}, 0)`)})`;
}

export function readLabels(entries: readonly LabelEntry[] | null): (address: Address) => AddressLabel {
  const labels = new Map<string, AddressLabel>();
  for (const [address, label, entity, entityLogo] of entries?.toReversed() ?? [])
    labels.set(`0x${address}`, { label, entity, entityLogo });
  return (address) => labels.get(address) ?? NO_LABEL;
}

export async function getLabels(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  addresses: Iterable<Address>,
): Promise<(address: Address) => AddressLabel> {
  const named = Array.from(addresses, addressBytes);
  if (named.length === 0) return readLabels(null);
  const [row] = await database.select<{ labels: readonly LabelEntry[] | null }>(
    sql`SELECT ${labelsOf(sql`${named}::bytea[]`, id)} AS labels`,
  );
  return readLabels(row?.labels ?? null);
}

const NO_LABEL: AddressLabel = { label: null, entity: null, entityLogo: null };
