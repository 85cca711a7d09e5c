import { keccak256 } from 'viem/utils';
import { comparableText, type FieldKind, type FieldValue, textHash } from './event-fields.ts';
import {
  type Comparison,
  type FilterProblem,
  type FilterShape,
  readFilterShape,
  scalarOf,
} from './filter-shape.ts';

export type { FilterProblem } from './filter-shape.ts';

export type FilterPredicate = (read: (field: string) => FieldValue | undefined) => boolean;

export const FILTER_VARIABLES = {
  contractAddress: 'moralis_streams_contract_address',
  chainId: 'moralis_streams_chain_id',
  possibleSpam: 'moralis_streams_possibleSpam',
} as const;

const VARIABLE_KINDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  [FILTER_VARIABLES.contractAddress, { type: 'hex', bytes: 20 }],
  [FILTER_VARIABLES.chainId, { type: 'number' }],
  [FILTER_VARIABLES.possibleSpam, { type: 'bool' }],
]);

export type FieldKinds = ReadonlyMap<string, FieldKind>;

/** One event with the topic0 must fit: events may differ in indexed parameters. */
export function checkFilter(
  filter: unknown,
  events: readonly FieldKinds[],
  path: string,
): readonly FilterProblem[] {
  const { shape, problems } = readFilterShape(filter, path);
  if (shape === null) return problems;
  return [...comparisons(shape)].flatMap((comparison) => checkComparison(comparison, events));
}

/**
 * A comparison, even `ne` or `nin`, is false if the event lacks the parameter.
 * The empty filter passes everything, a malformed one nothing.
 */
export function compileFilter(filter: unknown, kinds: FieldKinds): FilterPredicate {
  const { shape, problems } = readFilterShape(filter, '');
  if (shape === null) return problems.length === 0 ? () => true : () => false;
  return compileShape(shape, kinds);
}

function compileShape(shape: FilterShape, kinds: FieldKinds): FilterPredicate {
  if ('members' in shape) {
    const members = shape.members.map((member) => compileShape(member, kinds));
    const method = shape.op === 'and' ? 'every' : 'some';
    return (read) => members[method]((member) => member(read));
  }
  return compileComparison(shape, kinds);
}

function compileComparison({ operator, field, values }: Comparison, kinds: FieldKinds): FilterPredicate {
  const kind = VARIABLE_KINDS.get(field) ?? kinds.get(field);
  if (kind === undefined) return () => false;
  const literals = values.map(({ value }) => literalOf(kind, value)).filter((literal) => literal !== null);
  if (literals.length !== values.length) return () => false;
  const passes = operator.compile(literals);
  return (read) => {
    const value = read(field);
    return value !== undefined && passes(value);
  };
}

function* comparisons(shape: FilterShape): Generator<Comparison> {
  if ('field' in shape) yield shape;
  else for (const member of shape.members) yield* comparisons(member);
}

function checkComparison(comparison: Comparison, events: readonly FieldKinds[]): readonly FilterProblem[] {
  const { op, operator, field, path, values } = comparison;
  const variable = VARIABLE_KINDS.get(field);
  const kinds = variable === undefined ? events.flatMap((event) => event.get(field) ?? []) : [variable];
  if (kinds.length === 0) {
    const message = 'is not a parameter of the event that can be compared';
    return [{ path: `${path}.${op}.0`, message, value: field }];
  }
  const perKind = kinds.map((kind): FilterProblem[] => {
    if (operator.isOrder && kind.type !== 'number')
      return [{ path: `${path}.${op}`, message: `${op} compares numbers only`, value: field }];
    return values
      .filter(({ value }) => literalOf(kind, value) === null)
      .map(({ value, path: at }) => ({ path: at, message: `must be ${nameOf(kind)}`, value: scalarOf(value) }));
  });
  return perKind.reduce((fewest, problems) => (problems.length < fewest.length ? problems : fewest));
}

function nameOf(kind: FieldKind): string {
  switch (kind.type) {
    case 'number':
      return 'a whole number, decimal or hexadecimal';
    case 'bool':
      return 'true or false';
    case 'text':
      return 'text';
    case 'hash':
      return kind.of === 'text' ? 'text' : 'hexadecimal bytes or their keccak256';
    case 'hex':
      return kind.bytes === null ? 'hexadecimal bytes' : `hexadecimal, ${kind.bytes} bytes`;
  }
}

const NUMBER = /^-?(?:\d{1,100}|0x[0-9a-f]{1,64})$/i;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;
const TEXT_LENGTH_MAX = 10_000;
const BOOLEANS = new Map<string | null, boolean>([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Null: not a value of this kind. */
function literalOf(kind: FieldKind, value: unknown): FieldValue | null {
  switch (kind.type) {
    case 'number':
      if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null;
      if (typeof value !== 'string' || !NUMBER.test(value)) return null;
      return value.startsWith('-') ? -BigInt(value.slice(1)) : BigInt(value);
    case 'bool':
      return BOOLEANS.get(textOf(value, (text) => text.toLowerCase())) ?? null;
    case 'text':
      return textOf(value, comparableText);
    case 'hex':
      return hexOf(value, kind.bytes);
    case 'hash': {
      const hash = hexOf(value, 32);
      if (hash !== null || kind.of === 'text') return hash ?? textOf(value, textHash);
      const bytes = hexOf(value, null);
      return bytes === null ? null : keccak256(bytes as `0x${string}`);
    }
  }
}

function textOf(value: unknown, normalise: (text: string) => string): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const text = String(value);
  return text.length > TEXT_LENGTH_MAX ? null : normalise(text);
}

function hexOf(value: unknown, bytes: number | null): string | null {
  if (typeof value !== 'string' || !BYTES.test(value)) return null;
  return bytes === null || value.length === 2 + 2 * bytes ? value.toLowerCase() : null;
}
