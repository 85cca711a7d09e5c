import { ChainsteadError } from '@chainstead/core';

/** Something that a test, the demo or a benchmark asked of the testkit cannot be had. Code `TESTKIT`. */
export class TestkitError extends ChainsteadError {
  constructor(message: string, facts: Readonly<Record<string, unknown>> = {}, remedy?: string) {
    super({ code: 'TESTKIT', message, facts, retryable: false, ...(remedy === undefined ? {} : { remedy }) });
  }
}
