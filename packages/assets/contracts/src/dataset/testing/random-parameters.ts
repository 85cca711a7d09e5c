/** Random parameters of events and functions with values, and what Postgres returns of their columns. */
import fc from 'fast-check';
import { type AbiParameter, encodeAbiParameters, type Hex, toHex } from 'viem';
import type { EventTable } from '../../tables/event-table.ts';

export type EventParameter = AbiParameter & { readonly indexed?: boolean };

/** A parameter, a value for viem, and the text that Postgres returns of it. */
export interface Given {
  readonly parameter: EventParameter;
  readonly value: unknown;
  readonly text: string;
}

/** Whether a topic holds its hash. */
export const isLong = ({ type }: EventParameter) =>
  type === 'string' || type === 'bytes' || type === 'tuple' || type.endsWith(']');
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((all) => toHex(all));

const word = fc.oneof(
  fc
    .constantFrom(8, 64, 256)
    .chain((bits) =>
      fc
        .bigInt(0n, 2n ** BigInt(bits) - 1n)
        .map((value) => ({ type: `uint${bits}`, value: bits < 64 ? Number(value) : value, text: String(value) })),
    ),
  fc.bigInt(-(2n ** 255n), 2n ** 255n - 1n).map((value) => ({ type: 'int256', value, text: String(value) })),
  bytes(20).map((value) => ({ type: 'address', value, text: value })),
  bytes(32).map((value) => ({ type: 'bytes32', value, text: value })),
  bytes(3).map((value) => ({ type: 'bytes3', value, text: value })),
  fc.boolean().map((value) => ({ type: 'bool', value, text: String(value) })),
);
const dynamic = fc.oneof(
  fc.uint8Array({ maxLength: 70 }).map((all) => ({ type: 'bytes', value: toHex(all), text: toHex(all) })),
  fc.string({ unit: 'binary', maxLength: 40 }).map((given) => {
    const value = given.toWellFormed();
    return { type: 'string', value, text: value.replaceAll('\0', '') };
  }),
  fc
    .array(fc.bigInt(0n, 2n ** 128n), { maxLength: 4 })
    .map((value) => ({ type: 'uint256[]', value, text: JSON.stringify(value.map(String)) })),
  fc.array(fc.string({ unit: 'binary', maxLength: 5 }), { maxLength: 3 }).map((given) => {
    const value = given.map((one) => one.toWellFormed());
    return { type: 'string[]', value, text: JSON.stringify(value.map((one) => one.replaceAll('\0', ''))) };
  }),
);
const tuple = fc.tuple(bytes(20), fc.bigInt(0n, 2n ** 200n)).map(([owner, amount]) => ({
  parameter: {
    type: 'tuple',
    components: [
      { name: 'owner', type: 'address' },
      { name: '__proto__', type: 'uint256' },
    ],
  },
  value: [owner, amount],
  // Postgres orders the members of objects by length, then by name.
  text: `{"owner":${JSON.stringify(owner)},"__proto__":"${amount}"}`,
}));
const name = fc.constantFrom('', 'owner', 'amount', 'from', 'chain_id', 'blockNumber', '_value', '__proto__');
const plain = fc
  .tuple(name, fc.oneof(word, dynamic))
  .map(([given, { type, value, text }]): Given => ({ parameter: { name: given, type }, value, text }));
const structured = fc
  .tuple(name, tuple)
  .map(([given, { parameter, ...rest }]): Given => ({ parameter: { name: given, ...parameter }, ...rest }));
/** Up to 7 parameters, none of them indexed. */
export const randomParameters = fc.array(fc.oneof(plain, structured), { maxLength: 7 });
const few = fc.array(fc.oneof(plain, structured), { minLength: 1, maxLength: 12 });
/** Up to the 256 parameters that an ABI may have: some repeated, so that few values are random. */
export const manyParameters = fc
  .tuple(few, fc.integer({ min: 1, max: 256 }))
  .map(([all, count]) =>
    Array.from({ length: count }, (_, index) => all[index % all.length]).filter((one) => one !== undefined),
  );

/** Returns SQL that reads the columns of parameters as texts `v0`, `v1`, … */
export function textColumns({ parameters }: EventTable): readonly string[] {
  return parameters.map(
    ({ name: column, type }, index) =>
      `${type === 'bytea' ? `analytics.hex(${column})` : `${column}::text`} AS v${index}`,
  );
}

/** Returns a row or wanted texts with parsed JSON: spaces and the order of members are Postgres' own. */
export function comparable({ parameters }: EventTable, row: Record<string, unknown> | undefined): object {
  const parsed = parameters.flatMap(({ type }, index) =>
    type === 'jsonb' ? [[`v${index}`, JSON.parse(String(row?.[`v${index}`]))]] : [],
  );
  return { ...row, ...Object.fromEntries(parsed) };
}

/** Returns the encoding of the values by viem. */
export function encoded(given: readonly Given[]): Hex {
  return encodeAbiParameters(
    given.map(({ parameter }) => ({ ...parameter, name: '', ...unnamed(parameter) })),
    given.map(({ value }) => value),
  );
}

/** viem takes tuples without names as lists. */
function unnamed(parameter: EventParameter): object {
  return 'components' in parameter
    ? { components: (parameter.components as readonly AbiParameter[]).map(({ type }) => ({ type })) }
    : {};
}
