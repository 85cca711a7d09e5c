import { ChainsteadError } from '@chainstead/core';

/** The list can't be imported. Codes: `LIST_FORMAT_UNKNOWN`, `LIST_CHAIN_MISSING`, `LIST_EMPTY`. Nothing was changed. */
export class ListError extends ChainsteadError {
  constructor(
    code: 'LIST_FORMAT_UNKNOWN' | 'LIST_CHAIN_MISSING' | 'LIST_EMPTY',
    message: string,
    remedy: string,
    facts: Readonly<Record<string, unknown>> = {},
  ) {
    super({ code, message, remedy, facts, retryable: false });
  }
}
