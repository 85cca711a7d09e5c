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
  const facts = { type: 'integer', minimum: 1, maximum: 100, description: 'Rows per page.' } as const;
  return {
    schema: documented(facts, { required: true }),
    isArray: false,
    read: (given, name) => readNumber(onlyOf(given), name, 1, 100),
  };
}

export function offsetParameter(): Parameter<number> {
  const description = 'Number of rows to skip before the first page. Ignored with a cursor.';
  return {
    schema: documented({ type: 'integer', minimum: 0, maximum: 100, description, default: 0 }),
    isArray: false,
    read: (given, name) => (given === undefined ? { value: 0 } : readNumber(onlyOf(given), name, 0, 100)),
  };
}

export function versionParameter(description: string): Parameter<number | null> {
  return optional({ type: 'integer', minimum: 0, description }, (text, name) =>
    readNumber(text, name, 0, Number.MAX_SAFE_INTEGER),
  );
}

export function cursorParameter(): Parameter<string | null> {
  return textParameter(0, CURSOR_LENGTH_MAX, 'Cursor from the previous page.');
}

export function textParameter(min: number, max: number, description: string): Parameter<string | null> {
  return optional({ type: 'string', minLength: min, maxLength: max, description }, (text, name) => {
    if (text === undefined) return { problems: [`${name} must be a string`] };
    const problems = lengthProblems(text, name, min, max);
    return problems.length > 0 ? { problems } : { value: text === '' ? null : text };
  });
}

/** Epoch milliseconds. */
export function dateParameter(description: string): Parameter<number | null> {
  const text = textParameter(1, DATE_LENGTH_MAX, description);
  return {
    ...text,
    read(given, name) {
      const reading = text.read(given, name);
      if ('problems' in reading || reading.value === null) return reading as Reading<null>;
      const date = readDate(reading.value);
      return date === null
        ? { problems: [`${name} must be a valid ISO 8601 date string`] }
        : { value: date.getTime() };
    },
  };
}

export function choiceParameter<Choice extends string>(
  choices: readonly Choice[],
  description: string,
): Parameter<Choice | null> {
  return optional({ type: 'string', enum: [...choices], description }, (text, name) => {
    const value = choices.find((choice) => choice === text);
    if (value !== undefined) return { value };
    return { problems: [`${name} must be one of the following values: ${choices.join(', ')}`] };
  });
}

/** In base units. */
export function amountParameter(description: string): Parameter<string | null> {
  return optional({ type: 'string', pattern: '^[0-9]{1,39}$', description }, (text, name) =>
    text !== undefined && AMOUNT.test(text) ? { value: text } : { problems: [`${name} must be a number string`] },
  );
}

export function mapped<T, Value>(parameter: Parameter<T>, map: (value: NonNullable<T>) => Value) {
  const read = (given: readonly string[] | undefined, name: string): Reading<Value | null> => {
    const reading = parameter.read(given, name);
    if ('problems' in reading) return reading;
    return { value: reading.value === null || reading.value === undefined ? null : map(reading.value) };
  };
  return { ...parameter, read };
}

/** Null if absent. @param read the text is undefined if there are several */
function optional<T>(
  facts: ParameterFacts,
  read: (text: string | undefined, name: string) => Reading<T>,
): Parameter<T | null> {
  return {
    schema: documented(facts),
    isArray: false,
    read: (given, name) => (given === undefined ? { value: null } : read(onlyOf(given), name)),
  };
}

function onlyOf(given: readonly string[] | undefined): string | undefined {
  return given?.length === 1 ? given[0] : undefined;
}

function readNumber(text: string | undefined, name: string, min: number, max: number): Reading<number> {
  const value = text !== undefined && NUMBER.test(text) ? Number(text) : Number.NaN;
  const problems: string[] = [];
  if (!(value <= max)) problems.push(`${name} must not be greater than ${max}`);
  if (!(value >= min)) problems.push(`${name} must not be less than ${min}`);
  if (Number.isNaN(value)) problems.push(`${name} must be a number conforming to the specified constraints`);
  else if (!Number.isInteger(value)) problems.push(`${name} must be an integer number`);
  return problems.length > 0 ? { problems } : { value };
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
