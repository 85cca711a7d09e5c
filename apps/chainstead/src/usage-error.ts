import { ChainsteadError } from '@chainstead/core';

/** The command was given something that it can't use. */
export class UsageError extends ChainsteadError {
  constructor(message: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super({ code: 'USAGE', message, remedy, facts, retryable: false });
  }
}
