import type { Chain } from '@chainstead/chains';
import { ChainsteadError } from '@chainstead/core';
import { isOutage } from '@chainstead/db';
import { answerTo } from '@chainstead/http';
import { isNodeless } from '@chainstead/rpc';
import { StateNotArchivedError, StateUnavailableError } from '../state-error.ts';
import type { Settlement } from './question-rows.ts';

export const DATABASE_AWAY = 'DATABASE_UNAVAILABLE';
export const UNEXPECTED = 'UNEXPECTED';

/** The message is for clients, without texts of nodes. @param isOverdue ran out of time */
export function failedSettlement(error: unknown, chain: Chain, isOverdue: boolean): Settlement {
  const failed = (errorCode: string, errorMessage: string): Settlement => ({
    answer: null,
    errorCode,
    errorMessage,
  });
  if (error instanceof StateNotArchivedError || error instanceof StateUnavailableError)
    return failed(error.code, error.message);
  if (isOutage(error)) return failed(DATABASE_AWAY, 'The database is unavailable: try again later');
  if (error instanceof ChainsteadError && isNodeless(error))
    return failed(error.code, `This needs a node of ${chain.name}, and none is configured`);
  const isForeign = !(error instanceof ChainsteadError);
  const isTimeout = answerTo(error).status === 503 || (error instanceof Error && error.name === 'TimeoutError');
  if (isOverdue || (isForeign && isTimeout))
    return failed('STATE_UNAVAILABLE', `The state read on ${chain.name} timed out: retry in a moment`);
  // All that talks to nodes throws errors of a known kind.
  return error instanceof ChainsteadError
    ? failed(error.code, `The nodes of ${chain.name} returned no response: retry in a moment`)
    : failed(UNEXPECTED, 'Internal error');
}
