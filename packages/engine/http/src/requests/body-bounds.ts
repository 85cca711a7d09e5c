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

/** For bodies or responses together, from receiving bytes to the end of the request. */
export interface ByteBudget {
  /** False if there is no room. `isOneRow`: `rowBytesMax` is the key's maximum. */
  take(keyId: string, bytes: number, isOneRow?: boolean): boolean;
  give(keyId: string, bytes: number): void;
  readonly keyBytesMax: number;
  readonly rowBytesMax: number;
  readonly used: number;
}

const VALUE_BYTES = 64;
const TEXT_BYTES = 10;

/** Memory in addition to the body's bytes: up to 15 times as much for values as short as `{}`. */
export function bytesOfValues(values: number, bodyBytes: number): number {
  return VALUE_BYTES * Math.max(0, values - Math.floor(bodyBytes / TEXT_BYTES));
}

const SHARE_OF_ROW = 3 / 4;

/**
 * @param shareOfKey slow requests of one key leave room for other keys
 * @param keyBytesMin each key has them, even if other keys take all bytes
 */
export function createByteBudget(bytesMax: number, shareOfKey: number = 1 / 4, keyBytesMin = 0): ByteBudget {
  const ofKey = new Map<string, number>();
  const keyBytesMax = Math.ceil(bytesMax * shareOfKey);
  const rowBytesMax = Math.max(keyBytesMax, Math.ceil(bytesMax * SHARE_OF_ROW));
  let used = 0;
  return {
    take(keyId, bytes, isOneRow = false) {
      const taken = (ofKey.get(keyId) ?? 0) + bytes;
      if (taken > (isOneRow ? rowBytesMax : keyBytesMax)) return false;
      if (used + bytes > bytesMax && taken > keyBytesMin) return false;
      ofKey.set(keyId, taken);
      used += bytes;
      return true;
    },
    give(keyId, bytes) {
      const left = (ofKey.get(keyId) ?? 0) - bytes;
      if (left > 0) ofKey.set(keyId, left);
      else ofKey.delete(keyId);
      used -= bytes;
    },
    ...{ keyBytesMax, rowBytesMax },
    get used() {
      return used;
    },
  };
}
