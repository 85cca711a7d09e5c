import { ChainsteadError } from '@chainstead/core';

/** An argument or option of the command is invalid. */
export class UsageError extends ChainsteadError {
  constructor(message: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super({ code: 'USAGE', message, remedy, facts, retryable: false });
  }
}
