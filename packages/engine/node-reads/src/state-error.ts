import { defineError } from '@chainstead/core';
import { ApiError } from '@chainstead/http';

/** A 404: no upstream has the state of the requested block, which only archive nodes keep. */
export class StateNotArchivedError extends ApiError {
  constructor(message: string) {
    super({ code: 'STATE_NOT_ARCHIVED', status: 404, message, details: { status: 'not-archived' } });
  }

  static at(block: number): StateNotArchivedError {
    return new StateNotArchivedError(`Balances at block ${block} need an archive node`);
  }
}

/** A 503: the nodes of the chain could not return the requested state in time. */
export class StateUnavailableError extends ApiError {
  constructor(message: string, cause?: unknown) {
    const headers = { 'retry-after': '1' };
    super({ code: 'STATE_UNAVAILABLE', status: 503, message, headers, retryable: true, cause });
  }
}

/** A 500: a fault of this program, without its text, which the worker has logged. */
export class StateReadingFailedError extends defineError('STATE_READING_FAILED', (chain: string) => ({
  message: `A worker failed during a state read on ${chain}`,
  facts: { chain },
  remedy: 'Find "State read failed" in the application log of the worker role, and report it',
})) {}
