import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldKind, FieldValue } from './event-fields.ts';
import { textHash } from './event-fields.ts';
import { checkFilter, compileFilter } from './filter.ts';
import { FILTER_OPERATORS } from './filter-shape.ts';
import { type ModelValue, passesModel } from './testing/filter-model.ts';

const KINDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ['value', { type: 'number' }],
  ['price', { type: 'number' }],
  ['to', { type: 'hex', bytes: 20 }],
  ['data', { type: 'hex', bytes: null }],
  ['done', { type: 'bool' }],
  ['city', { type: 'text' }],
  ['label', { type: 'hash', of: 'text' }],
]);
const ADDRESS = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01';

function passes(filter: unknown, values: Readonly<Record<string, FieldValue>>): boolean {
  return compileFilter(filter, KINDS).passes((name) => values[name]);
}

const problemsOf = (filter: unknown) =>
  checkFilter(filter, [KINDS], 'filter').map(({ path, message }) => [path, message]);

describe('a filter', () => {
  test.each([
    [{ eq: ['value', '1000'] }, { value: 1000n }, true],
    [{ eq: ['value', 1000] }, { value: 1000n }, true],
    [{ eq: ['value', '0x3E8'] }, { value: 1000n }, true],
    [{ eq: ['value', '1001'] }, { value: 1000n }, false],
    [{ ne: ['value', '1001'] }, { value: 1000n }, true],
    [
      { gt: ['value', '115792089237316195423570985008687907853269984665640564039457584007913129639934'] },
      { value: 2n ** 256n - 1n },
      true,
    ],
    [{ gt: ['value', '9007199254740993'] }, { value: 9007199254740994n }, true],
    [{ lt: ['value', '-1'] }, { value: -2n }, true],
    [{ lt: ['value', '-1'] }, { value: 2n }, false],
    [{ lt: ['value', '-0x10'] }, { value: -17n }, true],
    [{ lte: ['value', '5'] }, { value: 5n }, true],
    [{ gte: ['value', '5'] }, { value: 5n }, true],
    [{ gt: ['value', '5'] }, { value: 5n }, false],
    [{ in: ['value', ['1', 2, '0x3']] }, { value: 3n }, true],
    [{ nin: ['value', ['1', 2, '0x3']] }, { value: 3n }, false],
    [{ nin: ['value', []] }, { value: 3n }, true],
    [{ eq: ['to', ADDRESS] }, { to: ADDRESS.toLowerCase() }, true],
    [{ in: ['to', [ADDRESS.toUpperCase().replace('0X', '0x')]] }, { to: ADDRESS.toLowerCase() }, true],
    [{ eq: ['data', '0xAB'] }, { data: '0xab' }, true],
    [{ eq: ['done', true] }, { done: true }, true],
    [{ eq: ['done', 'false'] }, { done: false }, true],
    [{ in: ['city', ['berlin', 'paris']] }, { city: 'paris' }, true],
    [{ in: ['city', ['berlin', 'paris']] }, { city: 'Paris' }, false],
    [{ eq: ['label', 'vitalik'] }, { label: textHash('vitalik') }, true],
    [
      { eq: ['label', textHash('vitalik').toUpperCase().replace('0X', '0x')] },
      { label: textHash('vitalik') },
      true,
    ],
    [{ eq: ['moralis_streams_possibleSpam', 'false'] }, { moralis_streams_possibleSpam: false }, true],
    [{ eq: ['moralis_streams_chain_id', '0x1'] }, { moralis_streams_chain_id: 1n }, true],
    [
      { eq: ['moralis_streams_contract_address', ADDRESS] },
      { moralis_streams_contract_address: ADDRESS.toLowerCase() },
      true,
    ],
    [{ and: [{ gt: ['value', 1] }, { lt: ['value', 3] }] }, { value: 2n }, true],
    [{ and: [{ gt: ['value', 1] }, { lt: ['value', 2] }] }, { value: 2n }, false],
    [{ or: [{ eq: ['value', 1] }, { eq: ['done', true] }] }, { value: 2n, done: true }, true],
    [{ or: [{ eq: ['value', 1] }, { eq: ['done', true] }] }, { value: 2n, done: false }, false],
    [{}, {}, true],
  ])('%j on %o gives %s', (filter, values, expected) => {
    expect(problemsOf(filter)).toEqual([]);
    expect(passes(filter, values)).toBe(expected);
  });

  test('on a parameter that the event does not have is false, whatever the operator', () => {
    for (const [op, { takesList }] of FILTER_OPERATORS)
      expect(passes({ [op]: ['value', takesList ? ['1'] : '1'] }, {})).toBe(false);
    expect(passes({ ne: ['nobody', '1'] }, { nobody: 2n })).toBe(false);
  });

  test('that is malformed lets nothing pass', () => {
    for (const filter of [
      null,
      [],
      'x',
      { eq: ['value'] },
      { and: [{ eq: ['value', 1] }] },
      { eq: ['value', 1], ne: ['value', 2] },
    ])
      expect(passes(filter, { value: 1n })).toBe(false);
  });
});

describe('checking a filter', () => {
  test.each([
    [null, [['filter', 'must be an object with one operator']]],
    [[], [['filter', 'must be an object with one operator']]],
    [{ eq: ['value', 1], ne: ['value', 2] }, [['filter', 'must have exactly one operator']]],
    [{ and: { eq: ['value', 1] } }, [['filter', 'and must be an array']]],
    [{ and: [{ eq: ['value', 1] }] }, [['filter.and', 'must have at least two filters']]],
    [
      { like: ['value', 1] },
      [['filter', `like is not one of and, or, ${[...FILTER_OPERATORS.keys()].join(', ')}`]],
    ],
    [{ eq: ['value'] }, [['filter.eq', 'must be a name and a value']]],
    [{ eq: [1, 'value'] }, [['filter.eq', 'must be a name and a value']]],
    [{ eq: ['value', ['1']] }, [['filter.eq', 'needs a single value']]],
    [{ in: ['value', '1'] }, [['filter.in', 'needs an array of values']]],
    [{ eq: ['nobody', 1] }, [['filter.eq.0', 'is not a parameter of the event that can be compared']]],
    [{ eq: ['value', '1.5'] }, [['filter.eq.1', 'must be a whole number, decimal or hexadecimal']]],
    [{ eq: ['value', 1.5] }, [['filter.eq.1', 'must be a whole number, decimal or hexadecimal']]],
    [{ eq: ['value', null] }, [['filter.eq.1', 'must be a whole number, decimal or hexadecimal']]],
    [{ eq: ['value', '9'.repeat(101)] }, [['filter.eq.1', 'must be a whole number, decimal or hexadecimal']]],
    [{ eq: ['to', '0x12'] }, [['filter.eq.1', 'must be hexadecimal, 20 bytes']]],
    [{ eq: ['done', 'maybe'] }, [['filter.eq.1', 'must be true or false']]],
    [{ eq: ['city', { a: 1 }] }, [['filter.eq.1', 'must be text']]],
    [{ gt: ['to', ADDRESS] }, [['filter.gt', 'gt compares numbers only']]],
    [
      { or: [{ eq: ['value', 'x'] }, { in: ['to', [ADDRESS, 'y']] }] },
      [
        ['filter.or.0.eq.1', 'must be a whole number, decimal or hexadecimal'],
        ['filter.or.1.in.1.1', 'must be hexadecimal, 20 bytes'],
      ],
    ],
  ])('%j tells what is wrong and where', (filter, problems) => {
    expect(problemsOf(filter)).toEqual(problems);
  });

  test('a comparison has to fit one of several events of the same topic0', () => {
    const erc721 = new Map<string, FieldKind>([['tokenId', { type: 'number' }]]);
    const filter = { or: [{ eq: ['tokenId', '1'] }, { gt: ['value', '5'] }] };
    expect(checkFilter(filter, [KINDS, erc721], 'filter')).toEqual([]);
    expect(checkFilter(filter, [erc721], 'filter')).toHaveLength(1);
  });

  test('is bounded in depth, size and values', () => {
    const one = { eq: ['value', 1] };
    let deep: unknown = one;
    for (let depth = 0; depth < 50_000; depth++) deep = { and: [one, deep] };
    expect(new Set(problemsOf(deep).map(([, message]) => message))).toEqual(
      new Set(['must not be nested deeper than 16']),
    );
    expect(() => JSON.stringify(checkFilter(deep, [KINDS], 'filter'))).not.toThrow();
    let deepest: unknown = { eq: ['value', 2] };
    for (let depth = 1; depth < 16; depth++) deepest = { or: [one, deepest] };
    expect(problemsOf(deepest)).toEqual([]);
    expect(passes(deepest, { value: 2n })).toBe(true);
    expect(problemsOf({ or: [one, deepest] })).not.toEqual([]);
    // The `or` counts as a filter too.
    const widest = { or: [...Array.from({ length: 998 }, () => one), { eq: ['value', 2] }] };
    expect(problemsOf(widest)).toEqual([]);
    expect(passes(widest, { value: 2n })).toBe(true);
    // Filters beyond the limit are not looked at.
    const wide = {
      or: [...Array.from({ length: 1_000 }, () => one), ...Array.from({ length: 200_000 }, () => 'x')],
    };
    expect(problemsOf(wide).map(([, message]) => message)).toEqual(['must not have more than 1000 filters']);
    const long = { in: ['value', Array.from({ length: 10_001 }, (_, place) => place)] };
    expect(problemsOf(long).map(([, message]) => message)).toEqual(['must not have more than 10000 values']);
  });

  test('never throws, whatever it is given', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (filter) => {
        const problems = checkFilter(filter, [KINDS], 'filter');
        for (const { path } of problems) expect(path.startsWith('filter')).toBe(true);
        compileFilter(filter, KINDS).passes(() => 1n);
      }),
    );
  });
});

const number = fc.oneof(
  fc.bigInt({ min: -(2n ** 255n), max: 2n ** 256n - 1n }),
  fc.bigInt({ min: -3n, max: 3n }),
);
const said = {
  number: number.chain((value) =>
    fc.constantFrom<unknown>(
      value.toString(),
      value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16).toUpperCase()}`,
      ...(value > -100n && value < 100n ? [Number(value)] : []),
    ),
  ),
  address: fc.constantFrom(ADDRESS, ADDRESS.toLowerCase(), `0x${'12'.repeat(20)}`, `0x${'AA'.repeat(20)}`),
  bool: fc.constantFrom<unknown>(true, false, 'true', 'false'),
  text: fc.constantFrom<unknown>('berlin', 'Berlin', '0xAB', '0xab', '', 'ü', 5),
};
const comparison = fc.oneof(
  fc.tuple(fc.constantFrom('eq', 'ne', 'lt', 'gt', 'lte', 'gte'), fc.constantFrom('value', 'price'), said.number),
  fc.tuple(
    fc.constantFrom('in', 'nin'),
    fc.constantFrom('value', 'price'),
    fc.array(said.number, { maxLength: 4 }),
  ),
  fc.tuple(fc.constantFrom('eq', 'ne'), fc.constant('to'), said.address),
  fc.tuple(fc.constantFrom('in', 'nin'), fc.constant('to'), fc.array(said.address, { maxLength: 4 })),
  fc.tuple(fc.constantFrom('eq', 'ne'), fc.constant('done'), said.bool),
  fc.tuple(fc.constantFrom('eq', 'ne'), fc.constant('city'), said.text),
  fc.tuple(fc.constantFrom('in', 'nin'), fc.constant('city'), fc.array(said.text, { maxLength: 4 })),
);
const { filter: anyFilter } = fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4 },
    comparison.map(([op, field, value]) => ({ [op]: [field, value] })),
    fc
      .tuple(fc.constantFrom('and', 'or'), fc.array(tie('filter'), { minLength: 2, maxLength: 5 }))
      .map(([op, members]) => {
        return { [op]: members };
      }),
  ),
}));
const anyValues = fc.record(
  {
    value: number,
    price: number,
    to: said.address.map((address) => address.toLowerCase()),
    done: fc.boolean(),
    city: fc.constantFrom('berlin', 'Berlin', '0xab', '', 'ü', '5'),
  },
  { requiredKeys: ['value', 'to', 'city'] },
);

describe('evaluating a filter', () => {
  test('gives what the direct model gives', () => {
    fc.assert(
      fc.property(anyFilter, anyValues, (filter, values) => {
        const modelled = new Map<string, ModelValue>(
          Object.entries(values).filter(([, value]) => value !== undefined),
        );
        expect(checkFilter(filter, [KINDS], 'filter')).toEqual([]);
        expect(compileFilter(filter, KINDS).passes((name) => modelled.get(name))).toBe(
          passesModel(filter, modelled),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});
