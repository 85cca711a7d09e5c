import { ApiError } from '@chainstead/http';

/** A 400: the contract was asked, and gave nothing that the function returns. */
export class ContractCallError extends ApiError {
  constructor(message: string) {
    super({ code: 'CONTRACT_CALL', status: 400, message });
  }

  /** @param reason null: it gave none */
  static reverted(reason: string | null): ContractCallError {
    return new ContractCallError(reason === null ? 'execution reverted' : `execution reverted: ${reason}`);
  }
}

/** A 400: nodes may not be asked here for this. */
export class ContractCallsOffError extends ApiError {
  constructor(message: string, configurationKey: string) {
    super({
      code: 'CONTRACT_CALLS_OFF',
      status: 400,
      message,
      details: { reason: 'not-offered', configuration_key: configurationKey },
    });
  }
}
