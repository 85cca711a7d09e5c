import { defineError } from '@chainstead/core';

/** The demo lacks a tool, or its local chain refuses a call. */
export class DemoError extends defineError(
  'DEMO',
  (message: string, facts: Readonly<Record<string, unknown>> = {}, remedy?: string) => ({
    message,
    facts,
    ...(remedy === undefined ? {} : { remedy }),
  }),
) {}
