/** What a worker writes down when a question has no answer, so that the API can say whose fault it is. */
import type { Chain } from '@chainstead/chains';
import { ChainsteadError } from '@chainstead/core';
import { isOutage } from '@chainstead/db';
import { answerTo } from '@chainstead/http';
import { StateNotArchivedError, StateUnavailableError } from '../state-error.ts';
import type { Settlement } from './question-rows.ts';

/** The worker's database can't be used now. */
export const DATABASE_AWAY = 'DATABASE_UNAVAILABLE';
/** A fault of this program or of its statements. */
export const UNEXPECTED = 'UNEXPECTED';

/**
 * Returns the settlement of a question that failed. Its message is for the client: what nodes and other errors say is for the log.
 * @param isOverdue whether the reading was given up since it took too long
 */
export function failedSettlement(error: unknown, chain: Chain, isOverdue: boolean): Settlement {
  const failed = (errorCode: string, errorMessage: string): Settlement => ({ answer: null, errorCode, errorMessage });
  if (error instanceof StateNotArchivedError || error instanceof StateUnavailableError)
    return failed(error.code, error.message);
  if (isOutage(error)) return failed(DATABASE_AWAY, 'The database is unavailable: try again later');
  if (isOverdue || isTimeout(error))
    return failed('STATE_UNAVAILABLE', `The state read on ${chain.name} timed out: retry in a moment`);
  // All that talks to nodes throws errors of a known kind; anything else is a fault of this program.
  return error instanceof ChainsteadError
    ? failed(error.code, `The nodes of ${chain.name} returned no response: retry in a moment`)
    : failed(UNEXPECTED, 'Internal error');
}

/** Timeout of a statement, or of a request. */
function isTimeout(error: unknown): boolean {
  if (error instanceof ChainsteadError) return false;
  return answerTo(error).status === 503 || (error instanceof Error && error.name === 'TimeoutError');
}
