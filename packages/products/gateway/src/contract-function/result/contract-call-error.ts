import { defineApiError } from '@chainstead/http';

/** A 400: the contract call failed or returned data that does not match the function. */
export class ContractCallError extends defineApiError('CONTRACT_CALL', (message: string) => ({
  status: 400,
  message,
})) {
  static reverted(reason: string | null): ContractCallError {
    return new ContractCallError(reason === null ? 'execution reverted' : `execution reverted: ${reason}`);
  }
}

/** A 400: the configuration does not allow this request to call nodes. */
export class ContractCallsOffError extends defineApiError(
  'CONTRACT_CALLS_OFF',
  (message: string, key: string) => ({
    status: 400,
    message,
    details: { reason: 'not-offered', configuration_key: key },
  }),
) {}
