import { z } from 'zod';
import type { ToolSchema } from './tool.ts';

/** A parameter of an operation, as the route reads it. */
export interface OperationParameter {
  readonly name: string;
  readonly place: 'path' | 'query';
  readonly isRequired: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** A GET operation of the OpenAPI document. */
export interface Operation {
  /** Such as `/api/v2.2/{address}/erc20`. */
  readonly path: string;
  readonly parameters: readonly OperationParameter[];
}

const parameterShape = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query']),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).default({}),
});
const operationShape = z.looseObject({
  operationId: z.string(),
  parameters: z.array(z.looseObject({ in: z.string() })).default([]),
});
const documentShape = z.looseObject({
  paths: z.record(z.string(), z.looseObject({ get: z.unknown().optional() })),
});

/** Returns the GET operations of an OpenAPI document by their id. */
export function readOperations(document: unknown): ReadonlyMap<string, Operation> {
  const { paths } = documentShape.parse(document);
  return new Map(
    Object.entries(paths).flatMap(([path, { get }]) => {
      const { data: operation } = operationShape.safeParse(get);
      if (operation === undefined) return [];
      const given = operation.parameters.filter((one) => one.in === 'path' || one.in === 'query');
      const parameters = z.array(parameterShape).parse(given).map(toParameter);
      return [[operation.operationId, { path, parameters }]];
    }),
  );
}

function toParameter({
  name,
  in: place,
  required,
  description,
  schema,
}: z.infer<typeof parameterShape>): OperationParameter {
  const { example, description: ofSchema, ...rest } = schema;
  return {
    name,
    place,
    isRequired: required,
    schema: {
      ...rest,
      description: description ?? ofSchema,
      ...(example !== undefined && { examples: [example] }),
    },
  };
}

/** Rows of a page unless the agent asks for another number: a page of 100 rows rarely fits into a result. */
export const LIMIT_DEFAULT = 20;

/** Returns the JSON Schema of a tool's arguments. */
export function schemaOf({ parameters }: Operation): ToolSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, schema }) => [
        name,
        name === 'limit' ? { ...schema, default: LIMIT_DEFAULT } : { ...schema },
      ]),
    ),
    required: parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}
