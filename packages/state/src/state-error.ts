import { ApiError } from '@chainstead/http';

/** A 404: no upstream keeps the state of a block any more, as all but archive nodes do not. */
export class StateNotArchivedError extends ApiError {
  constructor(message: string) {
    super({ code: 'STATE_NOT_ARCHIVED', status: 404, message, details: { status: 'not-archived' } });
  }

  static at(block: number): StateNotArchivedError {
    return new StateNotArchivedError(`Balances at block ${block} need an archive node`);
  }
}

/** A 503: what a request asked of the chain's nodes could not be had now. */
export class StateUnavailableError extends ApiError {
  constructor(message: string, cause?: unknown) {
    super({
      code: 'STATE_UNAVAILABLE',
      status: 503,
      message,
      headers: { 'retry-after': '1' },
      retryable: true,
      cause,
    });
  }
}
