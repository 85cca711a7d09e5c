import { isObject } from '@chainstead/core';
import type { FieldValue } from './event-fields.ts';

export interface FilterProblem {
  /** Such as `advancedOptions.0.filter.and.1.eq`. */
  readonly path: string;
  readonly message: string;
  readonly value: unknown;
}

export interface Comparison {
  readonly op: string;
  readonly operator: FilterOperator;
  readonly field: string;
  /** Unparsed; a list if the operator takes one. */
  readonly values: readonly { readonly value: unknown; readonly path: string }[];
  readonly path: string;
}

export type FilterShape = Comparison | { readonly op: 'and' | 'or'; readonly members: readonly FilterShape[] };

const FILTER_DEPTH_MAX = 16;
const FILTER_NODES_MAX = 1_000;
const FILTER_VALUES_MAX = 10_000;

/** Null without a problem: empty filter. Work is bounded whatever the depth and size. */
export function readFilterShape(
  filter: unknown,
  path: string,
): { readonly shape: FilterShape | null; readonly problems: readonly FilterProblem[] } {
  if (isObject(filter) && Object.keys(filter).length === 0) return { shape: null, problems: [] };
  const problems: FilterProblem[] = [];
  const shape = readNode(filter, path, 1, { nodes: 0, values: 0, problems });
  return problems.length === 0 ? { shape, problems } : { shape: null, problems };
}

interface Reading {
  nodes: number;
  values: number;
  readonly problems: FilterProblem[];
}

function readNode(node: unknown, path: string, depth: number, reading: Reading): FilterShape | null {
  const refuse = (message: string): null => {
    reading.problems.push({ path, message, value: scalarOf(node) });
    return null;
  };
  if (!isObject(node)) return refuse('must be an object with one operator');
  const [entry, ...others] = Object.entries(node);
  if (entry === undefined || others.length > 0) return refuse('must have exactly one operator');
  const [op, operands] = entry;
  if (depth > FILTER_DEPTH_MAX) return refuse(`must not be nested deeper than ${FILTER_DEPTH_MAX}`);
  if (++reading.nodes > FILTER_NODES_MAX)
    return reading.nodes === FILTER_NODES_MAX + 1
      ? refuse(`must not have more than ${FILTER_NODES_MAX} filters`)
      : null;
  if (!Array.isArray(operands)) return refuse(`${op} must be an array`);
  if (op === 'and' || op === 'or') return readMembers(op, operands, path, depth, reading);
  const operator = FILTER_OPERATORS.get(op);
  if (operator === undefined)
    return refuse(`${op} is not one of and, or, ${[...FILTER_OPERATORS.keys()].join(', ')}`);
  return readComparison({ op, operator }, operands, path, reading);
}

function readMembers(
  op: 'and' | 'or',
  operands: readonly unknown[],
  path: string,
  depth: number,
  reading: Reading,
): FilterShape | null {
  if (operands.length < 2) {
    reading.problems.push({ path: `${path}.${op}`, message: 'must have at least two filters', value: undefined });
    return null;
  }
  const members: FilterShape[] = [];
  for (const [index, operand] of operands.entries()) {
    if (reading.nodes > FILTER_NODES_MAX) return null;
    const member = readNode(operand, `${path}.${op}.${index}`, depth + 1, reading);
    if (member !== null) members.push(member);
  }
  return { op, members };
}

function readComparison(
  { op, operator }: Pick<Comparison, 'op' | 'operator'>,
  operands: readonly unknown[],
  path: string,
  reading: Reading,
): Comparison | null {
  const refuse = (message: string): null => {
    reading.problems.push({ path: `${path}.${op}`, message, value: undefined });
    return null;
  };
  const [field, operand] = operands;
  if (operands.length !== 2 || typeof field !== 'string') return refuse('must be a name and a value');
  const list = operator.takesList;
  if (list !== Array.isArray(operand)) return refuse(list ? 'needs an array of values' : 'needs a single value');
  const literals: readonly unknown[] = Array.isArray(operand) ? operand : [operand];
  reading.values += literals.length;
  if (reading.values > FILTER_VALUES_MAX) return refuse(`must not have more than ${FILTER_VALUES_MAX} values`);
  const at = `${path}.${op}.1`;
  const values = literals.map((value, index) => ({ value, path: list ? `${at}.${index}` : at }));
  return { op, operator, field, values, path };
}

export function scalarOf(value: unknown): unknown {
  return typeof value === 'object' ? undefined : value;
}

export type Literals = readonly FieldValue[];

export interface FilterTest {
  readonly isOrder: boolean;
  /** The literals of one test that stands for several of one parameter: alternatives (`or`), or all required. */
  join(op: 'and' | 'or', lists: readonly Literals[]): Literals;
  compile(literals: Literals): (value: FieldValue) => boolean;
}

interface FilterOperator {
  readonly takesList: boolean;
  readonly test: FilterTest;
}

const within: FilterTest = {
  isOrder: false,
  join: (op, lists) => (op === 'or' ? lists.flat() : shared(lists)),
  compile(literals) {
    const [only, ...others] = literals;
    if (others.length === 0) return (value) => value === only;
    const set = new Set(literals);
    return (value) => set.has(value);
  },
};

const outside: FilterTest = {
  isOrder: false,
  join: (op, lists) => (op === 'and' ? lists.flat() : shared(lists)),
  compile(literals) {
    const isWithin = within.compile(literals);
    return (value) => !isWithin(value);
  },
};

export const FILTER_OPERATORS: ReadonlyMap<string, FilterOperator> = new Map(
  Object.entries({
    eq: { takesList: false, test: within },
    ne: { takesList: false, test: outside },
    lt: { takesList: false, test: order('or', (value, literal) => value < literal) },
    gt: { takesList: false, test: order('and', (value, literal) => value > literal) },
    lte: { takesList: false, test: order('or', (value, literal) => value <= literal) },
    gte: { takesList: false, test: order('and', (value, literal) => value >= literal) },
    in: { takesList: true, test: within },
    nin: { takesList: true, test: outside },
  }),
);

function shared([first = [], ...others]: readonly Literals[]): Literals {
  const sets = others.map((list) => new Set(list));
  return first.filter((literal) => sets.every((set) => set.has(literal)));
}

/** @param largest with which the largest literal decides; with the other one, the smallest */
function order(largest: 'and' | 'or', passes: (value: bigint, literal: bigint) => boolean): FilterTest {
  return {
    isOrder: true,
    join(op, lists) {
      const literals = lists.flat().filter((literal) => typeof literal === 'bigint');
      const [first, ...others] = literals;
      if (first === undefined) return [];
      return [others.reduce((kept, one) => (one > kept === (op === largest) ? one : kept), first)];
    },
    compile: ([literal]) =>
      typeof literal === 'bigint' ? (value) => typeof value === 'bigint' && passes(value, literal) : () => false,
  };
}
