import { ApiError } from '@chainstead/http';

/** A 400: the contract call failed or returned data that does not match the function. */
export class ContractCallError extends ApiError {
  constructor(message: string) {
    super({ code: 'CONTRACT_CALL', status: 400, message });
  }

  static reverted(reason: string | null): ContractCallError {
    return new ContractCallError(reason === null ? 'execution reverted' : `execution reverted: ${reason}`);
  }
}

/** A 400: the configuration does not allow this request to call nodes. */
export class ContractCallsOffError extends ApiError {
  constructor(message: string, configurationKey: string) {
    const details = { reason: 'not-offered', configuration_key: configurationKey };
    super({ code: 'CONTRACT_CALLS_OFF', status: 400, message, details });
  }
}
