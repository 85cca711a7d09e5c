import type { FieldKind, FieldValue } from './event-fields.ts';
import { literalOf } from './filter-literal.ts';
import { type Comparison, type FilterProblem, type FilterShape, readFilterShape, scalarOf } from './filter-shape.ts';

export type { FilterProblem } from './filter-shape.ts';

/** Whether an event with these values passes. */
export type FilterPredicate = (read: (field: string) => FieldValue | undefined) => boolean;

/** Names that every filter may use beside the event's parameters: its emitter, the chain's id, whether the emitter is spam. */
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

/** Kinds of the parameters that can be compared, by name. */
export type FieldKinds = ReadonlyMap<string, FieldKind>;

/**
 * What is wrong with a filter for events with these parameters; empty when nothing is. Several events have the same topic0
 * when their indexed parameters differ: a comparison has to fit one of them. Tuples and arrays can't be compared.
 * @param path of the filter within the request, for messages: `advancedOptions.0.filter`
 */
export function checkFilter(filter: unknown, events: readonly FieldKinds[], path: string): readonly FilterProblem[] {
  const { shape, problems } = readFilterShape(filter, path);
  if (shape === null) return problems;
  return [...comparisons(shape)].flatMap((comparison) => checkComparison(comparison, events));
}

/**
 * A filter ready to be evaluated on events with these parameters. Numbers are of any size, signed; hexadecimal text is compared
 * whatever its letter case. A comparison with a parameter that the event lacks, or can't have such a value, is false, be
 * it `ne` or `nin`. The empty filter lets everything pass; a filter that `checkFilter` refuses as malformed, nothing.
 */
export function compileFilter(filter: unknown, kinds: FieldKinds): FilterPredicate {
  const { shape, problems } = readFilterShape(filter, '');
  if (shape === null) return problems.length === 0 ? () => true : () => false;
  return compileShape(shape, kinds);
}

function compileShape(shape: FilterShape, kinds: FieldKinds): FilterPredicate {
  if ('members' in shape) {
    const members = shape.members.map((member) => compileShape(member, kinds));
    return shape.op === 'and'
      ? (read) => members.every((member) => member(read))
      : (read) => members.some((member) => member(read));
  }
  return compileComparison(shape, kinds);
}

function compileComparison({ op, field, values }: Comparison, kinds: FieldKinds): FilterPredicate {
  const kind = VARIABLE_KINDS.get(field) ?? kinds.get(field);
  if (kind === undefined) return () => false;
  const literals = values.map(({ value }) => literalOf(kind, value)).filter((literal) => literal !== null);
  const [first] = literals;
  if (literals.length !== values.length) return () => false;
  const set = new Set(literals);
  const test = (matches: (value: FieldValue) => boolean): FilterPredicate => {
    return (read) => {
      const value = read(field);
      return value !== undefined && matches(value);
    };
  };
  const ordered = (matches: (value: bigint, literal: bigint) => boolean): FilterPredicate =>
    typeof first === 'bigint' ? test((value) => typeof value === 'bigint' && matches(value, first)) : () => false;
  switch (op) {
    case 'eq':
    case 'in':
      return test((value) => set.has(value));
    case 'ne':
    case 'nin':
      return test((value) => !set.has(value));
    case 'lt':
      return ordered((value, literal) => value < literal);
    case 'lte':
      return ordered((value, literal) => value <= literal);
    case 'gt':
      return ordered((value, literal) => value > literal);
    case 'gte':
      return ordered((value, literal) => value >= literal);
  }
}

function* comparisons(shape: FilterShape): Generator<Comparison> {
  if ('field' in shape) yield shape;
  else for (const member of shape.members) yield* comparisons(member);
}

const ORDER_OPERATORS: ReadonlySet<string> = new Set(['lt', 'lte', 'gt', 'gte']);

function checkComparison(comparison: Comparison, events: readonly FieldKinds[]): readonly FilterProblem[] {
  const { op, field, path, values } = comparison;
  const variable = VARIABLE_KINDS.get(field);
  const kinds = variable === undefined ? events.flatMap((event) => event.get(field) ?? []) : [variable];
  if (kinds.length === 0) {
    const message = 'is not a parameter of the event that can be compared';
    return [{ path: `${path}.${op}.0`, message, value: field }];
  }
  const perKind = kinds.map((kind): FilterProblem[] => {
    if (ORDER_OPERATORS.has(op) && kind.type !== 'number')
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
