import { defineError } from '@chainstead/core';

export class DemoError extends defineError(
  'DEMO',
  (message: string, facts: Readonly<Record<string, unknown>> = {}, remedy?: string) => ({
    message,
    facts,
    ...(remedy === undefined ? {} : { remedy }),
  }),
) {}
