import { defineError } from '@chainstead/core';

/** An argument or option of the command is invalid. */
export class UsageError extends defineError(
  'USAGE',
  (message: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) => ({
    message,
    remedy,
    facts,
  }),
) {}
