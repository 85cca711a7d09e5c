import { ChainsteadError } from '@chainstead/core';

/** The demo lacks a tool, or its local chain refuses a call. Code `DEMO`. */
export class DemoError extends ChainsteadError {
  constructor(message: string, facts: Readonly<Record<string, unknown>> = {}, remedy?: string) {
    super({ code: 'DEMO', message, facts, retryable: false, ...(remedy === undefined ? {} : { remedy }) });
  }
}
