/** The settlement of a failed question: the API reports whose fault it is. */
import type { Chain } from '@chainstead/chains';
import { ChainsteadError } from '@chainstead/core';
import { isOutage } from '@chainstead/db';
import { answerTo } from '@chainstead/http';
import { StateNotArchivedError, StateUnavailableError } from '../state-error.ts';
import type { Settlement } from './question-rows.ts';

export const DATABASE_AWAY = 'DATABASE_UNAVAILABLE';
export const UNEXPECTED = 'UNEXPECTED';

/** Its message is for the client: the texts of nodes and errors are for the log. @param isOverdue aborted for its time */
export function failedSettlement(error: unknown, chain: Chain, isOverdue: boolean): Settlement {
  const failed = (errorCode: string, errorMessage: string): Settlement => ({ answer: null, errorCode, errorMessage });
  if (error instanceof StateNotArchivedError || error instanceof StateUnavailableError)
    return failed(error.code, error.message);
  if (isOutage(error)) return failed(DATABASE_AWAY, 'The database is unavailable: try again later');
  const isForeign = !(error instanceof ChainsteadError);
  const isTimeout = answerTo(error).status === 503 || (error instanceof Error && error.name === 'TimeoutError');
  if (isOverdue || (isForeign && isTimeout))
    return failed('STATE_UNAVAILABLE', `The state read on ${chain.name} timed out: retry in a moment`);
  // All that talks to nodes throws errors of a known kind; anything else is a fault of this program.
  return error instanceof ChainsteadError
    ? failed(error.code, `The nodes of ${chain.name} returned no response: retry in a moment`)
    : failed(UNEXPECTED, 'Internal error');
}
