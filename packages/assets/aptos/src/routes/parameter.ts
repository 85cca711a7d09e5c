/** Parameters with the errors of class-validator. */
import { ChainsteadError, parseDate } from '@chainstead/core';
import { type ApiContext, defineApiError, NotIndexedError } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { AptosDatasetName } from '../dataset.ts';
import type { AptosNetwork } from '../transaction.ts';

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

export type ParameterSet = Readonly<Record<string, Parameter<unknown>>>;

type ValuesOf<Set extends ParameterSet> = {
  readonly [Name in keyof Set]: Set[Name] extends Parameter<infer Value> ? Value : never;
};

const BRACKETED = /^([^[\]]+)\[\d{0,6}\]$/;

/** `a[]=x&a[]=y`, `a[0]=x&a[1]=y`, `a=x&a=y`, `a=x,y`. Unknown parameters break a rule. */
export function readParameters<Set extends ParameterSet>(
  parameters: Set,
  given: Readonly<Record<string, readonly string[]>>,
): { readonly problems: readonly string[]; readonly values: ValuesOf<Set> } {
  const byName = new Map<string, readonly string[]>();
  const problems: string[] = [];
  for (const [key, values] of Object.entries(given)) {
    const bracketed = BRACKETED.exec(key)?.[1];
    const isKnown = (name: string): boolean => Object.hasOwn(parameters, name);
    const isArray = bracketed !== undefined && isKnown(bracketed) && parameters[bracketed]?.isArray === true;
    const name = isArray && !isKnown(key) ? bracketed : key;
    if (isKnown(name)) byName.set(name, [...(byName.get(name) ?? []), ...values]);
    else problems.push(`property ${key} should not exist`);
  }
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    const reading = parameter.read(byName.get(name), name);
    if ('problems' in reading) problems.push(...reading.problems);
    else values[name] = reading.value;
  }
  return { problems, values: values as ValuesOf<Set> };
}

/** Parameters are invalid: docs/api/aptos.md#bad-requests, in the words of class-validator. */
export class BadRequestError extends defineApiError('INVALID_PARAMETER', (problems: readonly string[]) => ({
  status: 400,
  message: problems.join(', '),
  body: { statusCode: '400', message: problems, error: 'Bad Request' },
})) {}

export const badRequestSchema = z
  .object({
    statusCode: z.literal('400'),
    message: z.array(z.string()).openapi({ example: ['limit must not be greater than 100'] }),
    error: z.literal('Bad Request'),
  })
  .openapi('AptosBadRequest');

export interface NetworkChoice {
  /** If this is only testnet, it is the default. */
  readonly indexed: readonly AptosNetwork[];
  /** `APTOS_DATASETS`. Default: all. */
  readonly datasets?: readonly AptosDatasetName[];
  /** The program's, not a proxy's. */
  readonly ports?: Readonly<Record<number, AptosNetwork>>;
}

/** As hosted: `testnet-aptos-api.…`, `aptos-testnet.…` (docs/api/aptos.md#aptos-routes). */
const TESTNET_HOST = /^(?:testnet-|aptos-testnet)/i;
const MAINNET_HOST = /^(?:mainnet-|aptos-mainnet)/i;

export function networkOfRequest(c: ApiContext, choice: NetworkChoice): AptosNetwork {
  const port = memberOf(memberOf(memberOf(c.env, 'incoming'), 'socket'), 'localPort');
  const byPort = typeof port === 'number' ? choice.ports?.[port] : undefined;
  if (byPort !== undefined) return byPort;
  const host = c.req.header('host') ?? '';
  if (TESTNET_HOST.test(host)) return 'testnet';
  if (MAINNET_HOST.test(host)) return 'mainnet';
  return choice.indexed.length === 1 && choice.indexed[0] === 'testnet' ? 'testnet' : 'mainnet';
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
}

const NODE_URL_KEYS: Readonly<Record<AptosNetwork, string>> = {
  mainnet: 'APTOS_NODE_URL',
  testnet: 'APTOS_TESTNET_NODE_URL',
};

/** @throws BadRequestError if it is not indexed here */
export function requireIndexed(choice: NetworkChoice, network: AptosNetwork, dataset: AptosDatasetName): void {
  const key = NODE_URL_KEYS[network];
  if (!choice.indexed.includes(network))
    throw new BadRequestError([new NotIndexedError(`Aptos ${network}`, key, `set ${key}`).message]);
  if (choice.datasets !== undefined && !choice.datasets.includes(dataset))
    throw new BadRequestError([NotIndexedError.ofDataset(dataset, 'APTOS_DATASETS').message]);
}
