import type { Chain } from '@chainstead/chains';
import { type ReadDatabase, sql } from '@chainstead/db';
import { storedEvent } from '../definitions/contract-definition.ts';
import { eventTable } from '../tables/event-table.ts';
import { indexColumns, indexedColumns } from './contracts-route.ts';
import type { FilteredEvent } from './event-filters.ts';

export interface ReadableEvent extends FilteredEvent {
  readonly firstBlock: number | null;
}

export async function readEvent(
  database: ReadDatabase,
  chain: Chain,
  { name, event }: { readonly name: string; readonly event: string },
): Promise<ReadableEvent | null> {
  const [row] = await database.select<{
    readonly firstBlock: number | null;
    readonly address: string | null;
    readonly child: string | null;
    readonly parent: string | null;
    readonly item: unknown;
    readonly indexes: readonly (readonly string[])[];
  }>(
    sql`SELECT definition.first_block, definition.addresses[1] AS address, event.value -> 'item' AS item,
    definition.factory ->> 'child' AS child, definition.factory ->> 'of' AS parent,
    ${indexColumns(sql`to_regclass('contracts.' || definition.name || '_' || (event.value ->> 'event'))`)} AS indexes
  FROM contract_definitions AS definition CROSS JOIN LATERAL jsonb_array_elements(definition.events) AS event
  WHERE definition.name = ${name} AND definition.chain_id = ${chain.id} AND event.value ->> 'event' = ${event}`,
  );
  if (row === undefined) return null;
  const emitters =
    row.child === null
      ? `--address ${row.address}`
      : `--factory ${row.parent ?? row.address} --event '<event>' --child ${row.child}`;
  const added = `${name} --chain ${chain.key} --abi <file> ${emitters}`;
  return {
    table: eventTable(name, event, storedEvent(row.item)),
    indexed: indexedColumns(row.indexes),
    commandOf: (column) => `chainstead contracts add ${added} --index ${column}`,
    firstBlock: row.firstBlock,
  };
}
