import { defineError } from '@chainstead/core';

export class UsageError extends defineError(
  'USAGE',
  (message: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) => ({ message, remedy, facts }),
) {}
