import type { FieldValue } from './event-fields.ts';

export interface FilterOperator {
  readonly takesList: boolean;
  readonly isOrder: boolean;
  compile(literals: readonly FieldValue[]): (value: FieldValue) => boolean;
}

export const FILTER_OPERATORS: ReadonlyMap<string, FilterOperator> = new Map(
  Object.entries({
    eq: equality((value, literal) => value === literal),
    ne: equality((value, literal) => value !== literal),
    lt: order((value, literal) => value < literal),
    gt: order((value, literal) => value > literal),
    lte: order((value, literal) => value <= literal),
    gte: order((value, literal) => value >= literal),
    in: list((value, literals) => literals.has(value)),
    nin: list((value, literals) => !literals.has(value)),
  }),
);

function equality(passes: (value: FieldValue, literal: FieldValue) => boolean): FilterOperator {
  return {
    takesList: false,
    isOrder: false,
    compile: ([literal]) => (literal === undefined ? () => false : (value) => passes(value, literal)),
  };
}

function order(passes: (value: bigint, literal: bigint) => boolean): FilterOperator {
  return {
    takesList: false,
    isOrder: true,
    compile: ([literal]) =>
      typeof literal === 'bigint' ? (value) => typeof value === 'bigint' && passes(value, literal) : () => false,
  };
}

function list(passes: (value: FieldValue, literals: ReadonlySet<FieldValue>) => boolean): FilterOperator {
  return {
    takesList: true,
    isOrder: false,
    compile(literals) {
      const set = new Set(literals);
      return (value) => passes(value, set);
    },
  };
}
