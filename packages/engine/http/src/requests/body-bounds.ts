import { countJsonValues, JSON_DEPTH_MAX } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { BodyTooLargeError, InvalidParameterError } from '../errors/api-error.ts';
import { mapOperations } from '../map-values.ts';

export interface BodyBounds {
  readonly bytesMax: number;
  /** JSON values: the whole, list items, object members. */
  readonly valuesMax: number;
}

const BODY_BOUNDS: BodyBounds = { bytesMax: 262_144, valuesMax: 10_000 };
const BYTES_MAX = 'x-body-bytes-max';
const VALUES_MAX = 'x-body-values-max';

export function bodyBounds({ bytesMax, valuesMax }: BodyBounds) {
  return { [BYTES_MAX]: bytesMax, [VALUES_MAX]: valuesMax };
}

const declared = z.looseObject({
  [BYTES_MAX]: z.number().default(BODY_BOUNDS.bytesMax),
  [VALUES_MAX]: z.number().default(BODY_BOUNDS.valuesMax),
});

export function boundsOfRoute(route: object): BodyBounds {
  const { [BYTES_MAX]: bytesMax, [VALUES_MAX]: valuesMax } = declared.parse(route);
  return { bytesMax, valuesMax };
}

const operationShape = z.looseObject({ requestBody: z.unknown().optional() });
const documentShape = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

export function withBodyBounds(document: object): object {
  const { paths, ...rest } = documentShape.parse(document);
  const bounded = mapOperations(paths, (operation) =>
    operation.requestBody === undefined ? operation : { ...operation, ...bodyBounds(boundsOfRoute(operation)) },
  );
  return { ...rest, paths: bounded };
}

interface JsonBodyBounds {
  readonly bytesMax: number;
  readonly valuesMax: number;
}

export async function readJsonBody(request: Request, { bytesMax, valuesMax }: JsonBodyBounds): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw new BodyTooLargeError(bytesMax);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(Buffer.concat(chunks, length));
  countJsonValues(bytes, { depthMax: JSON_DEPTH_MAX, valuesMax });
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw new InvalidParameterError({ parameter: 'body', message: 'The body must be JSON' });
  }
}
