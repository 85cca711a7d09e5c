import type { Log } from '@chainstead/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createParameterValues } from './compile-stream.ts';
import { type EventField, eventAbi } from './event-fields.ts';
import { compileFilter } from './filter.ts';
import { exampleBlock, exampleLog } from './testing/example-block.ts';
import { eventItem, exampleAddress } from './testing/example-stream.ts';
import { passesModel } from './testing/filter-model.ts';

const NOTE = eventItem('event Note(string text, bytes data, uint256 value)');
const OWNER = exampleAddress(1);

function noteLog(text: string, data: string, value = 1n): Log {
  const logs = [exampleLog(OWNER, NOTE, { text, data, value })];
  return exampleBlock([{ from: OWNER, to: null, logs }]).logs[0] as Log;
}

/** The field, with the cut of each time that it is decoded. */
function counted(field: EventField | undefined) {
  if (field === undefined) throw new Error('No such field');
  const cuts: (number | undefined)[] = [];
  const read: EventField['read'] = (log, bytesMax) => {
    cuts.push(bytesMax);
    return field.read(log, bytesMax);
  };
  return { cuts, field: { ...field, read } };
}

test('a parameter is decoded once per log, and again only for longer literals', () => {
  const { cuts, field } = counted(eventAbi(NOTE).fields.get('text'));
  const values = createParameterValues();
  const [one, other] = [noteLog('a'.repeat(500), '0x'), noteLog('b', '0x')];
  for (const bytes of [9, 30, 63, 9]) values.read(one, field, bytes);
  expect(cuts).toEqual([64]);
  for (const bytes of [64, 100, 127, 5]) values.read(one, field, bytes);
  expect(cuts).toEqual([64, 128]);
  expect(values.read(other, field, 5)).toBe('b');
  expect(cuts).toEqual([64, 128, 64]);
});

test('filters over cut values pass what they pass over whole ones', () => {
  const { fields } = eventAbi(NOTE);
  const kinds = new Map([...fields].map(([name, { kind }]) => [name, kind]));
  const unit = fc.constantFrom('a', 'é', '𝔸', '語', '0');
  const text = fc.oneof(
    fc.string({ unit, maxLength: 90 }),
    fc.nat(40).map((length) => `0x${'aB'.repeat(length)}`),
  );
  const data = fc.nat(90).map((length) => `0x${'ab'.repeat(length)}`);
  const comparison = fc.oneof(
    fc.tuple(fc.constantFrom('eq', 'ne'), fc.constant('text'), text),
    fc.tuple(fc.constantFrom('eq', 'ne'), fc.constant('data'), data),
    fc.tuple(fc.constantFrom('in', 'nin'), fc.constant('text'), fc.array(text, { maxLength: 3 })),
  );
  const filter = fc
    .tuple(fc.constantFrom('and', 'or'), fc.array(comparison, { minLength: 2, maxLength: 6 }))
    .map(([op, members]) => ({ [op]: members.map(([test, field, value]) => ({ [test]: [field, value] })) }));
  const given = fc
    .tuple(filter, text, data, fc.boolean())
    // Else few values are equal.
    .map(([one, written, bytes, isTaken]) => {
      const literal = isTaken ? /"text","((?:[^"\\]|\\.)*)"/.exec(JSON.stringify(one))?.[1] : undefined;
      return { filter: one, text: literal ?? written, data: bytes };
    });
  fc.assert(
    fc.property(given, ({ filter: one, text: written, data: bytes }) => {
      const values = createParameterValues();
      const log = noteLog(written, bytes);
      const passes = compileFilter(one, kinds).passes((name, most) => {
        const field = fields.get(name);
        return field && values.read(log, field, most);
      });
      const comparable = /^0x[0-9a-f]*$/i.test(written) ? written.toLowerCase() : written;
      const modelled = new Map<string, string>([
        ['text', comparable],
        ['data', bytes],
      ]);
      expect(passes).toBe(passesModel(one, modelled));
    }),
    { numRuns: 1_000 },
  );
});

test('a thousand comparisons of one parameter are one', () => {
  const kinds = new Map([['value', { type: 'number' }] as const]);
  const comparisons = (op: string) => Array.from({ length: 990 }, (_, number) => ({ [op]: ['value', number] }));
  const work = (filter: object) => compileFilter(filter, kinds).work.comparisons;
  expect(work({ or: comparisons('eq') })).toBe(1);
  expect(work({ and: comparisons('ne') })).toBe(1);
  expect(work({ or: [...comparisons('gt'), { or: [{ eq: ['value', 1] }, { in: ['value', [2]] }] }] })).toBe(2);
});
