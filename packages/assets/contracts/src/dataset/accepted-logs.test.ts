/** Forms of an event: the same types, other indexed parameters. */
import type { Log } from '@chainstead/core';
import { parseEventSignature } from '@chainstead/events/decoding';
import { hashOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type EventTable, eventItem, eventTable, type LogPlace } from '../tables/event-table.ts';
import { acceptedLogs } from './accepted-logs.ts';

function form(event: string, parameters: string, since: LogPlace | null = null): EventTable {
  const abi = parseEventSignature(`event Sent(${parameters})`);
  if (abi === null) throw new Error(`${parameters} are no parameters`);
  return { ...eventTable('vault', event, eventItem(abi)), since };
}

const NONE = form('none', 'address from, address to');
const FIRST = form('first', 'address indexed from, address to');
const SECOND = form('second', 'address from, address indexed to', { block: 100, log: 5 });
const THIRD = form('third', 'address indexed from, address to', { block: 200, log: 0 });
const BOTH = form('both', 'address indexed from, address indexed to');
const { topic0 } = NONE.abi;

const log = (topics: number, block = 1, index = 0): Pick<Log, 'topics' | 'blockNumber' | 'logIndex'> => ({
  topics: [topic0, hashOf(1, 1), hashOf(1, 2), hashOf(1, 3)].slice(0, topics),
  ...{ blockNumber: block, logIndex: index },
});
const ownersOf = (tables: readonly EventTable[], given: ReturnType<typeof log>) =>
  tables.filter((table) => acceptedLogs(table, tables)(given)).map(({ event }) => event);

describe('a log belongs to the form', () => {
  it.each([
    ['of its number of topics', [FIRST, NONE, BOTH], log(1), 'none'],
    ['of two topics', [FIRST, NONE, BOTH], log(2), 'first'],
    ['of three topics', [FIRST, NONE, BOTH], log(3), 'both'],
    ['that is the first one if none fits', [FIRST, NONE], log(4), 'first'],
    ['before the log of an upgrade', [FIRST, SECOND], log(2, 100, 4), 'first'],
    ['from the log of an upgrade on', [FIRST, SECOND], log(2, 100, 5), 'second'],
    ['after a block with an upgrade', [FIRST, SECOND], log(2, 101, 0), 'second'],
    ['before a block with an upgrade', [FIRST, SECOND], log(2, 99, 9), 'first'],
    ['between upgrades that were given in another order', [THIRD, SECOND, FIRST], log(2, 199, 9), 'second'],
    ['after the last upgrade', [THIRD, SECOND, FIRST], log(2, 200, 0), 'third'],
    ['that was always there, without an earlier one of its number', [BOTH, SECOND], log(2, 1, 0), 'second'],
  ])('%s', (_what, tables, given, owner) => {
    expect(ownersOf(tables, given)).toEqual([owner]);
  });

  test('and to exactly one of any forms', () => {
    const all = [NONE, FIRST, SECOND, THIRD, BOTH];
    fc.assert(
      fc.property(
        fc.subarray(all, { minLength: 1 }),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom(1, 99, 100, 101, 199, 200, 201),
        fc.integer({ min: 0, max: 9 }),
        (tables, topics, block, index) => {
          expect(ownersOf(tables, log(topics, block, index))).toHaveLength(1);
        },
      ),
    );
  });
});

it('is of no form with another first topic', () => {
  expect(ownersOf([FIRST, SECOND], { ...log(2), topics: [hashOf(9, 9), hashOf(1, 1)] })).toEqual([]);
  expect(ownersOf([FIRST], { ...log(1), topics: [] })).toEqual([]);
});
