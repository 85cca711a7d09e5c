import type { Hex } from '@chainstead/core';
import fc from 'fast-check';
import type { AbiType } from '../abi-entry.ts';

/** A type with values, tuples as arrays. */
export interface ExampleType {
  readonly type: AbiType;
  readonly values: fc.Arbitrary<unknown>;
}

const hex = (minLength: number, maxLength: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength, maxLength }).map((content) => `0x${Buffer.from(content).toString('hex')}` as const);

/** Typical compiler names, an empty one, and names of JavaScript object members. */
const name = fc.constantFrom('', 'to', 'amount', '_value', '__proto__', 'constructor');

const leaf: fc.Arbitrary<ExampleType> = fc
  .constantFrom<readonly [string, fc.Arbitrary<unknown>]>(
    ['uint256', fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })],
    ['int64', fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    ['uint8', fc.integer({ min: 0, max: 255 })],
    ['bool', fc.boolean()],
    ['address', hex(20, 20)],
    ['bytes4', hex(4, 4)],
    ['bytes', hex(0, 70)],
    ['string', fc.string({ maxLength: 40 })],
  )
  .chain(([type, values]) => name.map((called) => ({ type: { name: called, type }, values })));

function listOf({ type, values }: ExampleType, count: number | null): ExampleType {
  const lengths = count === null ? { maxLength: 4 } : { minLength: count, maxLength: count };
  return { type: { ...type, type: `${type.type}[${count ?? ''}]` }, values: fc.array(values, lengths) };
}

function tupleOf(members: readonly ExampleType[], called: string): ExampleType {
  return {
    type: { name: called, type: 'tuple', components: members.map(({ type }) => type) },
    values: fc.tuple(...members.map(({ values }) => values)),
  };
}

const { example } = fc.letrec<{ example: ExampleType }>((tie) => ({
  example: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.tuple(tie('example'), fc.constantFrom(null, 1, 3)).map(([item, count]) => listOf(item, count)),
    fc
      .tuple(fc.array(tie('example'), { minLength: 1, maxLength: 4 }), name)
      .map(([some, called]) => tupleOf(some, called)),
  ),
}));

/** Arguments of a function: types and values. */
export const exampleArguments: fc.Arbitrary<{
  readonly types: readonly AbiType[];
  readonly values: readonly unknown[];
}> = fc
  .array(example, { maxLength: 4 })
  .chain((some) =>
    fc
      .tuple(...some.map(({ values }) => values))
      .map((values) => ({ types: some.map(({ type }) => type), values })),
  );

export const exampleHex = hex;
