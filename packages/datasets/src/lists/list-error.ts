import { ChainsteadError } from '@chainstead/core';

/** A list that can't be imported: `LIST_FORMAT_UNKNOWN`, `LIST_CHAIN_MISSING`, `LIST_EMPTY`. Nothing was changed. */
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
