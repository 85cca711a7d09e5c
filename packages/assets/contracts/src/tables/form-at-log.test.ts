/** The form of a log, by named implementations and by places of upgrades. */
import { type Address, parseAddress } from '@chainstead/core';
import { parseEventSignature } from '@chainstead/events/decoding';
import { describe, expect, it, test } from 'vitest';
import { type EventTable, eventItem, eventTable, type LogPlace } from './event-table.ts';
import { dependOnImplementation, formAt, formsOf } from './form-at-log.ts';

const [A, B, C] = ['aa', 'bb', 'cc'].map((byte) => parseAddress(`0x${byte.repeat(20)}`)) as [
  Address,
  Address,
  Address,
];

function form(event: string, parameters: string, more: Partial<EventTable> = {}): EventTable {
  const abi = parseEventSignature(`event Sent(${parameters})`);
  if (abi === null) throw new Error(`${parameters} are no parameters`);
  return { ...eventTable('vault', event, eventItem(abi)), ...more };
}

const FIRST = form('first', 'address indexed from, address to');
const OF_A = { ...FIRST, implementations: [A] };
const OF_B = form('second', 'address from, address indexed to', { implementations: [B] });
const PLACED = form('placed', 'address from, address indexed to', { since: { block: 100, log: 5 } });
const place = (block: number, log: number): LogPlace => ({ block, log });
const upgrade = (implementation: Address, block: number, log: number) => ({ implementation, block, log });

describe('a log has the form', () => {
  it.each([
    ['that was added first, before any upgrade', [FIRST, OF_B], place(9, 9), null, 'first'],
    ['of the implementation', [FIRST, OF_B], place(10, 3), upgrade(B, 10, 2), 'second'],
    ['of an earlier implementation again', [OF_A, OF_B], place(10, 3), upgrade(A, 10, 2), 'first'],
    [
      'that was added first, if no form has the implementation',
      [FIRST, OF_B],
      place(10, 3),
      upgrade(C, 10, 2),
      'first',
    ],
    ['of a place after the implementation', [OF_A, PLACED], place(100, 5), upgrade(A, 100, 4), 'placed'],
    ['of an implementation after the place', [OF_A, PLACED], place(100, 7), upgrade(A, 100, 6), 'first'],
    ['of an implementation at the place', [OF_A, PLACED], place(100, 6), upgrade(A, 100, 5), 'first'],
    ['of a place, without an implementation', [OF_A, PLACED], place(101, 0), null, 'placed'],
    ['that was added first, before a place', [PLACED, OF_A], place(100, 4), null, 'first'],
  ])('%s', (_what, forms, at, last, expected) => {
    expect(formAt(forms, at, last)?.event).toBe(expected);
  });
});

test('forms with as many topics depend on implementations if one of them has some', () => {
  const none = form('none', 'address from, address to', { implementations: [C] });
  expect(formsOf(FIRST, [FIRST, none, OF_B]).map(({ event }) => event)).toEqual(['first', 'second']);
  expect([[FIRST, OF_B], [OF_A], [FIRST, PLACED]].map(dependOnImplementation)).toEqual([true, false, false]);
});
