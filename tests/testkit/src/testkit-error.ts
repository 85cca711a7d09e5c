import { defineError } from '@chainstead/core';

/** The testkit lacks something that a test, the demo or a benchmark needs. Code `TESTKIT`. */
export class TestkitError extends defineError(
  'TESTKIT',
  (message: string, facts: Readonly<Record<string, unknown>> = {}, remedy?: string) => ({
    message,
    facts,
    ...(remedy === undefined ? {} : { remedy }),
  }),
) {}
