import { z } from '@hono/zod-openapi';
import type { Values } from './route.ts';
import { type Field, type Fields, type SameField, wire } from './wire.ts';

/** A JSON object of a response: its schema, and how it is made. Each field is written once. */
export interface View<Args extends readonly unknown[], Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  show(...args: Args): z.output<Schema>;
}

/**
 * @param named name of the schema in the OpenAPI document, and its description; null: none
 * @param prepare finds once what several fields read, such as a row's block and token
 */
export function view<Args extends readonly unknown[], Source, Shape extends z.ZodRawShape>(
  named: string | null | { readonly name: string; readonly description: string },
  prepare: (...args: Args) => Source,
  fields: FieldsOf<Source, Shape>,
): View<Args, z.ZodObject<Shape>> {
  // The compiler can't compute the keys.
  const showSource = showFields(fields as unknown as Fields<Source>);
  const schema = schemaOf(fields) as unknown as z.ZodObject<Shape>;
  return {
    schema: withName(schema, named),
    show: (...args) => showSource(prepare(...args)) as z.output<z.ZodObject<Shape>>,
  };
}

function withName<Schema extends z.ZodType>(
  schema: Schema,
  named: string | null | { readonly name: string; readonly description: string },
): Schema {
  if (named === null) return schema;
  return typeof named === 'string'
    ? schema.openapi(named)
    : schema.openapi(named.name, { description: named.description });
}

/** Fields that several views share. */
export function fieldsOf<Source>() {
  return <const Shared extends Readonly<Record<string, Field<Source>>>>(fields: Shared): Shared => fields;
}

/** A list of what another view shows. @param bounded adds the number of items @default any number */
export function each<Item, Schema extends z.ZodType>(
  { schema, show }: View<readonly [Item], Schema>,
  bounded: (list: z.ZodArray<Schema>) => z.ZodArray<Schema> = (list) => list,
) {
  return wire(bounded(z.array(schema)), (items: readonly Item[]) => items.map((item) => show(item)));
}

/** What another view shows. */
export function inside<Item, Schema extends z.ZodType>({ schema, show }: View<readonly [Item], Schema>) {
  return wire(schema, (item: Item) => show(item));
}

type FieldsOf<Source, Shape extends z.ZodRawShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends z.ZodType
    ? Field<Source, Shape[Name]> | SameField<Name extends keyof Source ? Source[Name] : unknown, Shape[Name]>
    : never;
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
    for (const [name, field] of entries)
      shown[name] = 'value' in field ? field.value(source) : field.show((source as Values)[name]);
    return shown;
  };
}
