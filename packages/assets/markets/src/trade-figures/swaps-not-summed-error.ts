import { defineApiError } from '@chainstead/http';

/** The worker stores the missing hours in the background. */
export class SwapsNotSummedError extends defineApiError('SWAPS_NOT_SUMMED', (swapsMax: number) => ({
  status: 503,
  message: `More than ${swapsMax} swaps of this request are not summed by hour yet: retry later, or request fewer tokens or a shorter time`,
  details: { reason: 'swaps-not-summed', swapsMax },
  headers: { 'retry-after': '5' },
  retryable: true,
})) {}
