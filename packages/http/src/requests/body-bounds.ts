import { z } from '@hono/zod-openapi';

/** Limits of a route's body. */
export interface BodyBounds {
  /** Bytes. */
  readonly bytesMax: number;
  /** JSON values: the whole, list items, object members. */
  readonly valuesMax: number;
}

/** Default limits. */
const BODY_BOUNDS: BodyBounds = { bytesMax: 262_144, valuesMax: 10_000 };

const BYTES_MAX = 'x-body-bytes-max';
const VALUES_MAX = 'x-body-values-max';

/** Route members for a larger body limit; they appear in the OpenAPI document. */
export function bodyBounds({ bytesMax, valuesMax }: BodyBounds) {
  return { [BYTES_MAX]: bytesMax, [VALUES_MAX]: valuesMax };
}

const declared = z.looseObject({
  [BYTES_MAX]: z.number().default(BODY_BOUNDS.bytesMax),
  [VALUES_MAX]: z.number().default(BODY_BOUNDS.valuesMax),
});

/** @param route a `createRoute` result */
export function boundsOfRoute(route: object): BodyBounds {
  const { [BYTES_MAX]: bytesMax, [VALUES_MAX]: valuesMax } = declared.parse(route);
  return { bytesMax, valuesMax };
}

const operationShape = z.looseObject({ requestBody: z.unknown().optional() });
const documentShape = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

/** Returns an OpenAPI document in which each operation with a body includes its limits. */
export function withBodyBounds(document: object): object {
  const { paths, ...rest } = documentShape.parse(document);
  const described = Object.entries(paths).map(([path, operations]) => {
    const changed = Object.entries(operations).map(([method, operation]) => [
      method,
      operation.requestBody === undefined ? operation : { ...operation, ...bodyBounds(boundsOfRoute(operation)) },
    ]);
    return [path, Object.fromEntries(changed)];
  });
  return { ...rest, paths: Object.fromEntries(described) };
}
