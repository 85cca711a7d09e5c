/** Parameters with the errors of class-validator. */
import { ChainsteadError, parseDate } from '@chainstead/core';
import { z } from '@hono/zod-openapi';

export type Reading<T> = { readonly value: T } | { readonly problems: readonly string[] };

export interface Parameter<T> {
  readonly schema: z.ZodType;
  readonly isArray: boolean;
  /** @param given all values in order; undefined: absent */
  read(given: readonly string[] | undefined, name: string): Reading<T>;
}

/** For 25 wallets and 2 × 25 coins in two spellings. */
const CURSOR_LENGTH_MAX = 12_288;
const DATE_LENGTH_MAX = 100;
const AMOUNT = /^[0-9]{1,39}$/;
const NUMBER = /^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$/;

export function limitParameter(): Parameter<number> {
  return numberParameter(1, 100, undefined, 'Rows per page.');
}

export function offsetParameter(): Parameter<number> {
  return numberParameter(0, 100, 0, 'Number of rows to skip before the first page. Ignored with a cursor.');
}

export function versionParameter(description: string): Parameter<number | null> {
  const number = numberParameter(0, Number.MAX_SAFE_INTEGER, 0, description);
  return {
    ...number,
    schema: documented({ type: 'integer', minimum: 0, description }),
    read: (given, name) => (given === undefined ? { value: null } : number.read(given, name)),
  };
}

export function cursorParameter(): Parameter<string | null> {
  return textParameter(0, CURSOR_LENGTH_MAX, 'Cursor from the previous page.');
}

export function textParameter(min: number, max: number, description: string): Parameter<string | null> {
  return {
    schema: documented({ type: 'string', minLength: min, maxLength: max, description }),
    isArray: false,
    read(given, name) {
      if (given === undefined) return { value: null };
      const [text] = given;
      if (text === undefined || given.length > 1) return { problems: [`${name} must be a string`] };
      const problems = lengthProblems(text, name, min, max);
      return problems.length > 0 ? { problems } : { value: text === '' ? null : text };
    },
  };
}

export function dateParameter(description: string): Parameter<Date | null> {
  const text = textParameter(1, DATE_LENGTH_MAX, description);
  return {
    schema: documented({ type: 'string', minLength: 1, maxLength: DATE_LENGTH_MAX, description }),
    isArray: false,
    read(given, name) {
      const reading = text.read(given, name);
      if ('problems' in reading || reading.value === null) return reading as Reading<null>;
      const date = readDate(reading.value);
      return date === null ? { problems: [`${name} must be a valid ISO 8601 date string`] } : { value: date };
    },
  };
}

export function choiceParameter<Choice extends string>(
  choices: readonly Choice[],
  description: string,
): Parameter<Choice | null> {
  return {
    schema: documented({ type: 'string', enum: [...choices], description }),
    isArray: false,
    read(given, name) {
      if (given === undefined) return { value: null };
      const choice = given.length === 1 ? choices.find((each) => each === given[0]) : undefined;
      if (choice !== undefined) return { value: choice };
      return { problems: [`${name} must be one of the following values: ${choices.join(', ')}`] };
    },
  };
}

/** In base units; null if absent. */
export function amountParameter(description: string): Parameter<string | null> {
  return {
    schema: documented({ type: 'string', pattern: '^[0-9]{1,39}$', description }),
    isArray: false,
    read(given, name) {
      if (given === undefined) return { value: null };
      const [text] = given;
      if (given.length === 1 && text !== undefined && AMOUNT.test(text)) return { value: text };
      return { problems: [`${name} must be a number string`] };
    },
  };
}

/** @param standard default; undefined: required */
function numberParameter(
  min: number,
  max: number,
  standard: number | undefined,
  description: string,
): Parameter<number> {
  return {
    schema: documented(
      {
        type: 'integer',
        minimum: min,
        maximum: max,
        description,
        ...(standard !== undefined && { default: standard }),
      },
      { required: standard === undefined },
    ),
    isArray: false,
    read(given, name) {
      if (given === undefined && standard !== undefined) return { value: standard };
      const [text] = given ?? [];
      const value = given?.length === 1 && text !== undefined && NUMBER.test(text) ? Number(text) : Number.NaN;
      const problems: string[] = [];
      if (!(value <= max)) problems.push(`${name} must not be greater than ${max}`);
      if (!(value >= min)) problems.push(`${name} must not be less than ${min}`);
      if (Number.isNaN(value)) problems.push(`${name} must be a number conforming to the specified constraints`);
      else if (!Number.isInteger(value)) problems.push(`${name} must be an integer number`);
      return problems.length > 0 ? { problems } : { value };
    },
  };
}

export function lengthProblems(text: string, subject: string, min: number, max: number): string[] {
  const length = text.length > 2 * max ? text.length : [...text].length;
  if (length < min) return [`${subject} must be longer than or equal to ${min} characters`];
  return length > max ? [`${subject} must be shorter than or equal to ${max} characters`] : [];
}

export interface ParameterFacts {
  readonly type: 'string' | 'integer' | 'array';
  readonly description?: string;
  readonly example?: string;
  readonly default?: number;
  readonly enum?: string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Omit<ParameterFacts, 'items' | 'default'>;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export function documented(facts: ParameterFacts, { required } = { required: false }): z.ZodType {
  const schema = z.string();
  return required ? schema.openapi({ ...facts }) : schema.optional().openapi({ ...facts });
}

function readDate(text: string): Date | null {
  try {
    return parseDate(text);
  } catch (error) {
    if (error instanceof ChainsteadError) return null;
    throw error;
  }
}
