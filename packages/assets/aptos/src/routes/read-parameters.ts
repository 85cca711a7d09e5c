import { defineApiError } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { Parameter } from './parameter.ts';

export type ParameterSet = Readonly<Record<string, Parameter<unknown>>>;

export type ValuesOf<Set extends ParameterSet> = {
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
