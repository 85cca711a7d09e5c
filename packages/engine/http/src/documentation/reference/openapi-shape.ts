import { z } from '@hono/zod-openapi';

export interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly required?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly items?: Schema | undefined;
  readonly additionalProperties?: Schema | boolean | undefined;
  readonly allOf?: readonly Schema[] | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly oneOf?: readonly Schema[] | undefined;
}

const schemaShape: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.string().optional(),
    description: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), schemaShape).optional(),
    items: schemaShape.optional(),
    additionalProperties: z.union([z.boolean(), schemaShape]).optional(),
    allOf: z.array(schemaShape).optional(),
    anyOf: z.array(schemaShape).optional(),
    oneOf: z.array(schemaShape).optional(),
  }),
);

const contentShape = z.record(
  z.string(),
  z.looseObject({ schema: schemaShape.optional(), example: z.unknown().optional() }),
);

const parameterShape = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: schemaShape.optional(),
  example: z.unknown().optional(),
});

const operationShape = z.looseObject({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(parameterShape).optional(),
  requestBody: z.looseObject({ content: contentShape }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ description: z.string().optional(), content: contentShape.optional() }),
  ),
});

export const openApiShape = z.looseObject({
  info: z.looseObject({ version: z.string() }),
  tags: z.array(z.looseObject({ name: z.string(), description: z.string().optional() })).optional(),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
  components: z.looseObject({ schemas: z.record(z.string(), schemaShape).optional() }).optional(),
});

export type OpenApiDocument = z.infer<typeof openApiShape>;
export type OpenApiOperation = z.infer<typeof operationShape>;
export type OpenApiParameter = z.infer<typeof parameterShape>;
export type Schemas = Readonly<Record<string, Schema>>;

export function resolved(
  schema: Schema,
  schemas: Schemas,
): { readonly schema: Schema; readonly name: string | null } {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? { schema, name: null } : { schema: schemas[name] ?? {}, name };
}

export function partsOf({ allOf = [], anyOf = [], oneOf = [] }: Schema): readonly Schema[] {
  return [...allOf, ...anyOf, ...oneOf];
}
