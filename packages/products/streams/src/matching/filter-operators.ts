import type { FieldValue } from './event-fields.ts';

export type Literals = readonly FieldValue[];

export interface FilterTest {
  readonly isOrder: boolean;
  /** The literals of one test that stands for several of one parameter: alternatives (`or`), or all required. */
  join(op: 'and' | 'or', lists: readonly Literals[]): Literals;
  compile(literals: Literals): (value: FieldValue) => boolean;
}

export interface FilterOperator {
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
