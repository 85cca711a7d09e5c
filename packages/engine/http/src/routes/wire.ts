import { type Address, toQuantity } from '@chainstead/core';
import { z } from '@hono/zod-openapi';

/** A member of a response: its schema, and how it is read from what the route found. */
export interface Field<in Source, Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  value(source: Source): unknown;
}

/** The member of the source that has the field's name. */
export interface SameField<in Value, Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly show: (member: Value) => unknown;
}

export type Fields<in Source> = Readonly<Record<string, Field<Source> | SameField<unknown>>>;

/** What the document says of a field: a description, or more. */
type About = string | { readonly description?: string; readonly example?: unknown; readonly pattern?: string };

/** Makes fields of one kind of values. */
interface Kind<Schema extends z.ZodType, Value> {
  <Source>(value: (source: Source) => Value): Field<Source, Schema>;
  <Source>(about: About, value: (source: Source) => Value): Field<Source, Schema>;
  <Name extends string>(about: About, member: Name): Field<Readonly<Record<Name, Value>>, Schema>;
  (about?: About): SameField<Value, Schema>;
  /** The member of the source that has this name. */
  of<Name extends string>(member: Name): Field<Readonly<Record<Name, Value>>, Schema>;
}

export type Wire<Schema extends z.ZodType, Value> = Kind<Schema, Value> & {
  /** The field may be null. */
  readonly orNull: Kind<z.ZodNullable<Schema>, Value | null>;
  /** Null and undefined are left out. */
  readonly orAbsent: Kind<z.ZodOptional<Schema>, Value | null | undefined>;
  /** Undefined is left out: the request doesn't want the field. */
  readonly ifRequested: Kind<z.ZodOptional<z.ZodNullable<Schema>>, Value | null | undefined>;
};

/** @param show makes the JSON of a value @default unchanged */
export function wire<Schema extends z.ZodType, Value = z.input<Schema>>(
  schema: Schema,
  show: (value: Value) => unknown = unchanged,
): Wire<Schema, Value> {
  return Object.assign(kind(schema, show), {
    orNull: kind(schema.nullable(), (value: Value | null) => (value === null ? null : show(value))),
    orAbsent: kind(schema.optional(), (value: Value | null | undefined) =>
      value === null || value === undefined ? undefined : show(value),
    ),
    ifRequested: kind(schema.nullable().optional(), (value: Value | null | undefined) =>
      value === null || value === undefined ? value : show(value),
    ),
  });
}

function textOf(value: string | number | bigint): string {
  return String(value);
}

function unchanged<Value>(value: Value): Value {
  return value;
}

function kind<Schema extends z.ZodType, Value>(
  schema: Schema,
  show: (value: Value) => unknown,
): Kind<Schema, Value> {
  const read = <Source>(own: Schema, value: (source: Source) => Value) => ({
    schema: own,
    value: (source: Source) => show(value(source)),
  });
  const member = <Name extends string>(own: Schema, name: Name) =>
    read(own, (source: Readonly<Record<Name, Value>>) => source[name]);
  function field<Source>(value: (source: Source) => Value): Field<Source, Schema>;
  function field<Source>(about: About, value: (source: Source) => Value): Field<Source, Schema>;
  function field<Name extends string>(about: About, name: Name): Field<Readonly<Record<Name, Value>>, Schema>;
  function field(about?: About): SameField<Value, Schema>;
  function field<Name extends string>(
    about?: About | ((source: Readonly<Record<Name, Value>>) => Value),
    value?: Name | ((source: Readonly<Record<Name, Value>>) => Value),
  ): Field<Readonly<Record<Name, Value>>, Schema> | SameField<Value, Schema> {
    if (typeof about === 'function') return read(schema, about);
    const own = about === undefined ? schema : documented(schema, about);
    if (value === undefined) return { schema: own, show };
    return typeof value === 'function' ? read(own, value) : member(own, value);
  }
  return Object.assign(field, { of: <Name extends string>(name: Name) => member(schema, name) });
}

/** The same field with another description. */
export function described<Source, Schema extends z.ZodType>(
  field: Field<Source, Schema>,
  about: About,
): Field<Source, Schema> {
  return { ...field, schema: documented(field.schema, about) };
}

function documented<Schema extends z.ZodType>(schema: Schema, about: About): Schema {
  return schema.openapi(typeof about === 'string' ? { description: about } : about);
}

export const text = wire(z.string());
export const flag = wire(z.boolean());
export const number = wire(z.number());
/** Always null. */
export const nothing = wire(z.null());
export const integer = wire(z.int());
/** From 0. */
export const count = wire(z.int().min(0));
export const address = wire<z.ZodString, Address>(z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }));
export const hash = wire(z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' }));
/** A number of any length in decimal. */
export const digits = wire(z.string().openapi({ pattern: '^[0-9]+$', example: '18' }), textOf);
/** A number as a text without a documented pattern. */
export const numeral = wire(z.string(), textOf);
/** Hexadecimal, such as a chain's ID. */
export const quantity = wire(z.string(), toQuantity);
/** ISO 8601 with milliseconds. */
export const moment = wire(z.iso.datetime({ precision: 3 }).openapi({ example: '2022-11-19T20:01:23.000Z' }));
