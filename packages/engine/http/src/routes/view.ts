import { z } from '@hono/zod-openapi';
import type { Field, Fields } from './wire.ts';

/** A JSON object of a response: its schema, and how it is made. Each field is written once. */
export interface View<Args extends readonly unknown[], Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  show(...args: Args): Readonly<Record<string, unknown>>;
}

/**
 * @param name of the schema in the OpenAPI document
 * @param prepare finds once what several fields read, such as a row's block and token
 */
export function view<Args extends readonly unknown[], Source, Shape extends z.ZodRawShape>(
  name: string,
  prepare: (...args: Args) => Source,
  fields: FieldsOf<Source, Shape>,
): View<Args, z.ZodObject<Shape>> {
  const showSource = showFields<Source>(fields);
  // The compiler can't compute the keys.
  const schema = schemaOf(fields) as unknown as z.ZodObject<Shape>;
  return { schema: schema.openapi(name), show: (...args) => showSource(prepare(...args)) };
}

type FieldsOf<Source, Shape extends z.ZodRawShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends z.ZodType ? Field<Source, Shape[Name]> : never;
};

/** Without a name in the OpenAPI document. */
export function schemaOf(fields: Readonly<Record<string, { readonly schema: z.ZodType }>>): z.ZodObject {
  return z.object(Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])));
}

export function showFields<Source>(
  fields: Fields<Source>,
): (source: Source) => Readonly<Record<string, unknown>> {
  const entries = Object.entries(fields);
  return (source) => {
    const shown: Record<string, unknown> = {};
    for (const [name, field] of entries) shown[name] = field.value(source);
    return shown;
  };
}
