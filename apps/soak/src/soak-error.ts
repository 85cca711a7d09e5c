import { ChainsteadError } from '@chainstead/core';

/** The soak itself could not go on: nothing that it judges. */
export class SoakError extends ChainsteadError {
  constructor(message: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super({ code: 'SOAK_FAILED', message, remedy, facts, retryable: false });
  }
}
