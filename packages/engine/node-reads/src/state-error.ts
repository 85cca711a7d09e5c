import { defineError } from '@chainstead/core';
import { defineApiError } from '@chainstead/http';

/** A 404: no upstream has the state of the requested block, which only archive nodes keep. */
export class StateNotArchivedError extends defineApiError('STATE_NOT_ARCHIVED', (message: string) => ({
  status: 404,
  message,
  details: { status: 'not-archived' },
})) {
  static at(block: number): StateNotArchivedError {
    return new StateNotArchivedError(`Balances at block ${block} need an archive node`);
  }
}

/** A 503: the nodes of the chain could not return the requested state in time. */
export class StateUnavailableError extends defineApiError(
  'STATE_UNAVAILABLE',
  (message: string, cause?: unknown) => ({
    ...{ status: 503, message, cause },
    headers: { 'retry-after': '1' },
    retryable: true,
  }),
) {}

/** A 500: a fault of this program, without its text, which the worker has logged. */
export class StateReadingFailedError extends defineError('STATE_READING_FAILED', (chain: string) => ({
  message: `A worker failed during a state read on ${chain}`,
  facts: { chain },
  remedy: 'Find "State read failed" in the application log of the worker role, and report it',
})) {}
