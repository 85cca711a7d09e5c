/** Random pairs of contracts: no name of the one is a name of the other, except of tables, which `addContract` compares. */
import { readAbi } from '@chainstead/events/decoding';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { meetingContract } from '../definitions/testing/meeting-contracts.ts';
import { indexName } from './create-tables.ts';
import {
  bytesColumns,
  type EventTable,
  eventItem,
  eventNames,
  eventTable,
  PLACE_COLUMNS,
} from './event-table.ts';

function tablesOf({ name, abi }: { readonly name: string; readonly abi: unknown }): readonly EventTable[] {
  const entries = readAbi(abi, { anonymousEvents: true })?.entries ?? [];
  const items = entries.flatMap((one) => (one.kind === 'event' ? [eventItem(one.entry)] : []));
  const names = eventNames(name, items, []);
  return items.map((item, index) => eventTable(name, names[index] ?? '', item));
}

const distinct = (names: readonly string[]) => expect(new Set(names).size).toBe(names.length);

test('names of relations, paths and columns differ if those of the tables do', () => {
  fc.assert(
    fc.property(meetingContract, meetingContract, (first, second) => {
      fc.pre(first.name !== second.name);
      const own = tablesOf(first);
      distinct(own.map(({ name }) => name));
      const all = [...own, ...tablesOf(second).filter(({ name }) => own.every((table) => table.name !== name))];
      const relations = all.flatMap((table) => {
        const columns = ['_pkey', 'undecoded', ...table.parameters.map(({ name }) => name)];
        return [table.name.replace(/^.*\./, ''), ...columns.map((column) => indexName(table, column))];
      });
      distinct(relations);
      distinct(all.map(({ view }) => view));
      distinct(all.map(({ contract, event }) => `${contract}/${event}`));
      for (const name of relations) expect(name.length).toBeLessThanOrEqual(63);
      for (const table of all) {
        const parameters = table.parameters.map(({ name }) => name);
        distinct([...Object.keys(PLACE_COLUMNS), 'undecoded', ...parameters, ...bytesColumns(table).values()]);
        expect(table.view.length).toBeLessThanOrEqual('analytics.'.length + 63);
      }
    }),
    { numRuns: 300 },
  );
});
