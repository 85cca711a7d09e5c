import { InvalidPrimitiveError } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { CreateFault } from '../http-stream/http-stream.ts';

/** Malformed rows are a fault of the source. @throws SourceError */
export function converting<T>(fault: CreateFault, convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    if (error instanceof MalformedAnswerError || error instanceof InvalidPrimitiveError)
      throw fault('wrong', error.message);
    throw error;
  }
}
