import { ChainsteadError } from '@chainstead/core';

/** The testkit lacks something that a test, the demo or a benchmark needs. Code `TESTKIT`. */
export class TestkitError extends ChainsteadError {
  constructor(message: string, facts: Readonly<Record<string, unknown>> = {}, remedy?: string) {
    super({ code: 'TESTKIT', message, facts, retryable: false, ...(remedy === undefined ? {} : { remedy }) });
  }
}
