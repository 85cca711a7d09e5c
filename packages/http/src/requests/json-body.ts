import { countJsonValues, JSON_DEPTH_MAX } from '@chainstead/core';
import { BodyTooLargeError, InvalidParameterError } from '../errors/api-error.ts';

export interface JsonBodyBounds {
  readonly bytesMax: number;
  /** Values in the body, counted before it is parsed. */
  readonly valuesMax: number;
}

/**
 * Returns the JSON of a body, for routes outside the OpenAPI document.
 * @throws BodyTooLargeError, InvalidParameterError
 */
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
