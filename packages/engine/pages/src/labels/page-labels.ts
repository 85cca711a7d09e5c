import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import type { ChainInSql } from '../coverage/block-span.ts';

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

export const NO_LABEL: AddressLabel = { label: null, entity: null, entityLogo: null };
